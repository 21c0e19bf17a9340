import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { createdAtOf, firstIdOf, TRACE_ID } from '@vitrine/traces/trace-id';
import { cursorOf, type AncestorQuery, type CheckpointQuery, type TraceQuery } from '@vitrine/traces/trace-store';
import type { Checkpoint, TracePage } from '@vitrine/traces/trace';
import type { JournalReader } from './journal-reader.ts';
import { LINEAGE_IDS, type LineageIds } from './lineage-entries.ts';
import { LineageTimeRanges } from './lineage-time-ranges.ts';
import type { ReadDictionary } from './read-dictionary.ts';
import { checkpointOf, summaryOf, type TraceRow } from './trace-rows.ts';
import type { TimeRange } from './time-range.ts';
import { TraceTimeRanges, type TraceFilter } from './trace-time-ranges.ts';

/** A status that fewer traces have is found by its index, whatever the other filters. */
const FEW_OF_STATUS = 5_000;
const LATEST = 2 ** 48 - 1;
const ORDINARY_STATUS = 200;

const ANYTHING: Pick<TraceFilter, 'models' | 'credentials'> = { models: undefined, credentials: undefined };

interface Conditions {
  readonly sql: readonly string[];
  readonly values: readonly SQLInputValue[];
}

/** Lists traces, newest first: by a scan of the ranges that can hold matches, or by the index of statuses. */
export class TraceLister {
  readonly #database: DatabaseSync;
  readonly #dictionary: ReadDictionary;
  readonly #ranges: TraceTimeRanges;
  readonly #lineages: LineageTimeRanges;
  readonly #fewOfStatus: number;

  constructor(database: DatabaseSync, dictionary: ReadDictionary, journal: JournalReader, fewOfStatus: number = FEW_OF_STATUS) {
    this.#fewOfStatus = fewOfStatus;
    this.#database = database;
    this.#dictionary = dictionary;
    this.#ranges = new TraceTimeRanges(database, dictionary, journal);
    this.#lineages = new LineageTimeRanges(database);
  }

  list(query: TraceQuery): TracePage {
    const rows = this.#rows(query);
    const items = rows.slice(0, query.limit).map((row) => summaryOf(row, this.#dictionary));
    const last = rows[query.limit - 1]?.['id'];
    const more = rows.length > query.limit && last instanceof Uint8Array;
    return { items, ...(more ? { next_cursor: cursorOf(last) } : {}) };
  }

  /** The newest first. */
  checkpoints(query: CheckpointQuery): Checkpoint[] {
    return this.#rows(query)
      .slice(0, query.limit)
      .map((row) => checkpointOf(row, this.#dictionary));
  }

  /** Scopes of the traces that have all of the ids. Reads each of these traces. */
  scopesWith(ids: LineageIds): Set<number> {
    const { sql, values } = this.#conditions({ ...ids, limit: 1 }, ANYTHING);
    const where = ['id >= ?', 'id < ?', ...sql].join(' AND ');
    const statement = this.#database.prepare(`SELECT DISTINCT scope FROM traces WHERE ${where}`);
    const scopes = new Set<number>();
    for (const { oldest, newest } of this.#lineages.find(ids, { oldest: 0, newest: LATEST }))
      for (const row of statement.all(firstIdOf(oldest), firstIdOf(newest + 1), ...values)) scopes.add(Number(row['scope']));
    return scopes;
  }

  /** A trace, its parent, and so on. A look into the table for each: some 20 µs. */
  ancestors({ id, tenant, limit }: AncestorQuery): Checkpoint[] {
    const number = tenant && this.#dictionary.tenant(tenant);
    if (tenant !== undefined && number === undefined) return [];
    const statement = this.#database.prepare('SELECT * FROM traces WHERE id = ?');
    const found = new Map<string, Checkpoint>();
    for (let next: string | undefined = id; next !== undefined && found.size < limit && !found.has(next);) {
      const row = TRACE_ID.test(next) ? statement.get(Buffer.from(next, 'hex')) : undefined;
      if (row === undefined) break;
      if (number !== undefined && this.#dictionary.scope(Number(row['scope'])).tenant !== number) break;
      const checkpoint = checkpointOf(row, this.#dictionary);
      found.set(checkpoint.id, checkpoint);
      next = checkpoint.lineage.parent_checkpoint_id;
    }
    return [...found.values()];
  }

  #rows(query: TraceQuery): TraceRow[] {
    const { after, from, to, status } = query;
    const filter = this.#filter(query);
    const tenant = query.tenant && this.#dictionary.tenant(query.tenant);
    if (filter === undefined || (query.tenant !== undefined && tenant === undefined)) return [];
    const conditions = this.#conditions(query, filter);
    const whole: TimeRange = { oldest: 0, newest: after === undefined ? LATEST : createdAtOf(after) };
    if (LINEAGE_IDS.some((id) => query[id] !== undefined)) {
      const spanningRange = this.#spanningRange(tenant, filter, whole);
      return spanningRange === undefined ? [] : this.#take(query, conditions, this.#lineages.find(query, spanningRange));
    }
    if (this.#hasIndex(query)) return this.#take(query, conditions, [this.#spanningRange(tenant, filter, whole)]);

    const isSparse = filter.models ?? filter.credentials ?? query.tenant ?? filter.minTokens ?? filter.maxTokens ?? status;
    if (isSparse !== undefined) return this.#take(query, conditions, this.#ranges.find(tenant, filter, whole.newest));
    const isTimed = from !== undefined || to !== undefined;
    return this.#take(query, conditions, [isTimed ? this.#spanningRange(tenant, filter, whole) : whole]);
  }

  /** A status by itself may be on many, beside other filters only when it is on few. */
  #hasIndex({ status, ...others }: TraceQuery): boolean {
    if (status === undefined || status === ORDINARY_STATUS) return false;
    const { provider, model, api_key_hash: hash, min_tokens: min, max_tokens: max, tenant } = others;
    if ((provider ?? model ?? hash ?? min ?? max ?? tenant) === undefined) return true;
    const some = `SELECT 1 FROM traces WHERE response_status = ? AND response_status <> ${ORDINARY_STATUS} LIMIT ${this.#fewOfStatus}`;
    return Number(this.#database.prepare(`SELECT count(*) AS n FROM (${some})`).get(status)?.['n']) < this.#fewOfStatus;
  }

  #spanningRange(tenant: number | undefined, filter: TraceFilter, whole: TimeRange): TimeRange | undefined {
    if (filter.from === undefined && filter.to === undefined) return whole;
    const spanningRange = this.#ranges.spanningRange(tenant, filter);
    return spanningRange && { oldest: spanningRange.oldest, newest: Math.min(spanningRange.newest, whole.newest) };
  }

  /** The rows of a page, and one more. */
  #take(query: TraceQuery, conditions: Conditions, ranges: Iterable<TimeRange | undefined>): TraceRow[] {
    const { after, limit } = query;
    const where = ['id >= ?', 'id < ?', ...conditions.sql].join(' AND ');
    const statement = this.#database.prepare(`SELECT * FROM traces WHERE ${where} ORDER BY id DESC LIMIT ?`);
    const rows: TraceRow[] = [];
    for (const range of ranges) {
      if (range === undefined) continue;
      const end = firstIdOf(range.newest + 1);
      const bound = after !== undefined && Buffer.compare(after, end) < 0 ? after : end;
      rows.push(...statement.all(firstIdOf(range.oldest), bound, ...conditions.values, limit + 1 - rows.length));
      if (rows.length > limit) break;
    }
    return rows;
  }

  /** The filter in the file's numbers; undefined when no trace can match. */
  #filter(query: TraceQuery): TraceFilter | undefined {
    const { provider, model, api_key_hash: hash, status, min_tokens: minTokens, max_tokens: maxTokens, from, to } = query;
    const models = provider === undefined && model === undefined ? undefined : new Set(this.#dictionary.models(provider, model));
    const credentials = hash === undefined ? undefined : new Set(this.#dictionary.credentials(hash));
    if (models?.size === 0 || credentials?.size === 0) return undefined;
    return { models, credentials, status, minTokens, maxTokens, from, to };
  }

  #conditions(query: TraceQuery, { models, credentials }: Pick<TraceFilter, 'models' | 'credentials'>): Conditions {
    const sql: string[] = [];
    const values: SQLInputValue[] = [];
    const add = (condition: string, value: SQLInputValue | undefined) => {
      if (value === undefined) return;
      sql.push(condition);
      values.push(value);
    };
    const addOneOf = (column: string, numbers: Iterable<number> | undefined) => {
      if (numbers === undefined) return;
      const [first, ...others] = numbers;
      if (others.length === 0) add(`${column} = ?`, first ?? 0);
      else add(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify([first, ...others]));
    };
    for (const id of LINEAGE_IDS) add(`${id} = ?`, query[id]);
    // The index of statuses holds no others, and SQLite uses it only when the query says so.
    if (query.status !== undefined && query.status !== ORDINARY_STATUS) sql.push(`response_status <> ${ORDINARY_STATUS}`);
    add('response_status = ?', query.status);
    addOneOf('model', models);
    addOneOf('credential', credentials);
    const tenant = query.tenant && this.#dictionary.tenant(query.tenant);
    addOneOf('scope', tenant === undefined ? undefined : this.#dictionary.scopesOf(tenant));
    add('total_tokens >= ?', query.min_tokens);
    add('total_tokens <= ?', query.max_tokens);
    add('timestamp >= ?', query.from);
    add('timestamp <= ?', query.to);
    return { sql, values };
  }
}
