import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { firstIdOf } from '@vitrine/traces/trace-id';
import { FILTER_COLUMNS, type TraceFilters, type TraceQuery } from '@vitrine/traces/trace-store';
import { createdRange } from './created-range.ts';
import { hexOf, traceRowOf, type TraceRow } from './trace-columns.ts';
import { TOKENS_MAGNITUDE } from './trace-tables.ts';

/** The ids by which the traces of a conversation are found. */
export const LINEAGE_IDS = ['trace_group_id', 'thread_id', 'run_id'] as const;
/** A subset of them. */
export type LineageIds = { readonly [Id in (typeof LINEAGE_IDS)[number]]?: string | undefined };

/** The most common values, which the indexes on these columns omit. */
const ORDINARY = { response_status: 200, usage_status: "'reported'", cost_status: "'priced'" } as const;
/** Up to this many traces are found by the index on tokens and then ordered by id. If there are more, reading in the order of ids soon fills a
 *  page. */
const FEW_BY_TOKENS = 20_000;

/** Reads rows of `traces`, the newest first. */
export class ListReader {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  rows(query: TraceQuery, limit: number): TraceRow[] {
    const isByTokens = this.#fewHaveTheTokens(query);
    const where = this.#conditions(query, isByTokens);
    if (where === undefined) return [];
    const index = isByTokens ? 'INDEXED BY traces_by_tokens' : '';
    const sql = `SELECT * FROM traces ${index} WHERE ${where.sql.join(' AND ')} ORDER BY id DESC LIMIT ?`;
    const rows = this.#database.prepare(sql).all(...where.values, limit);
    return rows.map(traceRowOf);
  }

  /** Undefined when no trace can match. */
  #conditions(query: TraceQuery, isByTokens: boolean): { sql: string[]; values: SQLInputValue[] } | undefined {
    const { status, tenant, after, from, to } = query;
    const where = { sql: ['id >= ?'], values: [hexOf(firstIdOf(0))] as SQLInputValue[] };
    const add = (condition: string, value: SQLInputValue | undefined) => {
      if (value === undefined) return;
      where.sql.push(condition);
      where.values.push(value);
    };
    add('org_id = ?', tenant?.org_id);
    add('workspace_id = ?', tenant?.workspace_id);
    for (const [name, { column, operator }] of Object.entries(FILTER_COLUMNS))
      add(`${column} ${operator} ?`, query[name as keyof TraceFilters]);
    // An index contains only other values. SQLite uses it only when the query excludes this one.
    const rare = (column: keyof typeof ORDINARY, value: unknown, ordinary: unknown) => {
      if (value !== undefined && value !== ordinary) where.sql.push(`${column} <> ${ORDINARY[column]}`);
    };
    rare('response_status', status, 200);
    rare('usage_status', query.usage_status, 'reported');
    rare('cost_status', query.cost_status, 'priced');
    if (isByTokens) add(`${TOKENS_MAGNITUDE} >= ?`, magnitudeOf(query.min_tokens ?? 0));
    if (isByTokens) add(`${TOKENS_MAGNITUDE} <= ?`, magnitudeOf(query.max_tokens ?? Number.MAX_SAFE_INTEGER));
    add('id < ?', after && hexOf(after));
    if (from === undefined && to === undefined) return where;
    const created = createdRange(this.#database, query);
    if (created === undefined) return undefined;
    add('id >= ?', hexOf(firstIdOf(created.first)));
    add('id < ?', hexOf(firstIdOf(created.last + 1)));
    return where;
  }

  #fewHaveTheTokens({ min_tokens: min, max_tokens: max }: TraceQuery): boolean {
    if (min === undefined && max === undefined) return false;
    const some = `SELECT 1 FROM traces INDEXED BY traces_by_tokens WHERE ${TOKENS_MAGNITUDE} BETWEEN ? AND ? LIMIT ${FEW_BY_TOKENS + 1}`;
    const values = [min ?? 0, max ?? Number.MAX_SAFE_INTEGER].map(magnitudeOf);
    return Number(this.#database.prepare(`SELECT count(*) AS n FROM (${some})`).get(...values)?.['n']) <= FEW_BY_TOKENS;
  }
}

/** As `TOKENS_MAGNITUDE`. */
function magnitudeOf(tokens: number): number {
  const digits = String(tokens);
  return digits.length * 10 + Number(digits[0]);
}
