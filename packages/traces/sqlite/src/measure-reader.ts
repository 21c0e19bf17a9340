import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { addLatency, bucketOf } from '@vitrine/traces/latency-histogram';
import { splitRange, type Span } from '@vitrine/traces/split-range';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { firstIdOf } from '@vitrine/traces/trace-id';
import { MEASURE_FILTERS, needsPercentiles, routeOf, type MeasureQuery } from '@vitrine/traces/trace-measures';
import { usdPartsOf } from '@vitrine/traces/usd';
import { bounded, boundsOf, createdRange } from './created-range.ts';
import { readLatencies } from './latencies-text.ts';
import { MeasureSums } from './measure-sums.ts';
import { PLACES, type MeasureTable } from './measure-table.ts';
import { NO_TENANT, tenantsIn, type Level } from './sum-tables.ts';
import { hexOf } from './trace-columns.ts';

const GROUP_COLUMNS = {
  provider: 'provider',
  route: 'provider',
  key: 'gateway_key_id',
  api_key_hash: 'api_key_hash',
};

/** The columns of a measure after the time and the group: of sums, and of a trace. */
const SUMS = `requests, input_tokens, output_tokens, total_tokens, cost_thousands, cost_pico, upper_thousands, upper_pico, rejected, unpriced,
  estimated, missing_usage, errors_4xx, errors_5xx, latency_ms, latency_ms_min, latency_ms_max, streams, first_token_us, last_active_at`;
const TRACE = `1, input_tokens, output_tokens, total_tokens, estimated_cost_usd, 0, coalesce(cost_upper_usd, estimated_cost_usd), 0,
  outcome = 'rejected', cost_status = 'unpriced', cost_status = 'estimated',
  usage_status IN ('missing', 'undecodable') AND cost_status <> 'free', response_status BETWEEN 400 AND 499, response_status >= 500,
  latency_ms, latency_ms, latency_ms, time_to_first_token_us > 0, time_to_first_token_us, timestamp`;
/** Sums are by the model that served. */
const OF_SUMS = { provider: 'provider', model: 'model' };
const OF_TRACES = { ...OF_SUMS, model: 'coalesce(response_model, model)' };

/** Measures by sums: whole days and hours from `trace_sums`, and the parts of hours at the edges of a range from the traces themselves. */
export class MeasureReader {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Undefined when there are too many groups. Call it in a transaction, so that all reads see one snapshot. */
  measure(query: MeasureQuery): MeasureTable | undefined {
    const sums = new MeasureSums(query);
    const { days, hours, parts } = splitRange(query.from, query.to, query.bucket);
    const wholeHours = [...hours];
    for (const part of parts) {
      const hour = bucketStartOf(part.from, 'hour');
      if (!this.#isGone(hour, query)) this.#addTraces(sums, part, query);
      else if (hour >= part.from) wholeHours.push({ from: hour, before: part.before });
    }
    for (const span of days) this.#addSums(sums, 'day', span, query);
    for (const span of wholeHours) this.#addSums(sums, 'hour', span, query);
    return sums.table();
  }

  /** Whether traces of an hour may have been removed. */
  #isGone(hour: number, { tenant }: MeasureQuery): boolean {
    const level: Level = tenant === undefined ? 'all_hour' : 'model_hour';
    const { org_id, workspace_id } = tenant ?? NO_TENANT;
    const sql = `SELECT min(first_created_at) < (SELECT value FROM totals WHERE name = 'removed_before') AS gone FROM trace_sums
      WHERE level = ? AND org_id = ? AND workspace_id = ? AND bucket_start = ?`;
    return this.#database.prepare(sql).get(level, org_id, workspace_id, bounded(hour))?.['gone'] === 1;
  }

  #addSums(sums: MeasureSums, unit: 'hour' | 'day', span: Span, query: MeasureQuery): void {
    const { groupBy, tenant } = query;
    const byKey = groupBy === 'key' || groupBy === 'api_key_hash';
    const level: Level = `${byKey ? 'key' : tenant === undefined ? 'all' : 'model'}_${unit}`;
    const owners = tenant === undefined ? (byKey ? tenantsIn(this.#database) : [NO_TENANT]) : [tenant];
    const where = conditionsOf(query, ['level = ?', 'org_id = ?', 'workspace_id = ?', 'bucket_start >= ?', 'bucket_start < ?']);
    const latencies = needsPercentiles(query) ? ', latencies' : '';
    const statement = this.#database.prepare(
      `SELECT bucket_start, ${groupColumn(query)}, ${SUMS} ${latencies} FROM trace_sums WHERE ${where.sql}`,
    );
    // An object per row would take 1.5 times as long.
    statement.setReturnArrays(true);
    for (const { org_id, workspace_id } of owners) {
      for (const row of statement.iterate(level, org_id, workspace_id, ...boundsOf(span), ...where.values)) {
        const values = row as unknown as (number | string)[];
        const at = sums.add(Number(values[0]), nameOf(query, values[1]), values);
        if (latencies !== '')
          readLatencies(String(values[PLACES.lastActive + 1]), (bucket, count) =>
            addLatency(sums.latenciesOf(at), bucket, count),
          );
        if (sums.isTooMany) return;
      }
    }
  }

  #addTraces(sums: MeasureSums, part: Span, query: MeasureQuery): void {
    const [from, before] = boundsOf(part);
    const created = createdRange(this.#database, { from, to: before - 1 });
    if (created === undefined) return;
    const tenant = query.tenant === undefined ? [] : ['org_id = ?', 'workspace_id = ?'];
    const where = conditionsOf(query, ['id >= ?', 'id < ?', 'timestamp >= ?', 'timestamp < ?', ...tenant], OF_TRACES);
    // In table order, because an index would look up each trace separately.
    const statement = this.#database.prepare(
      `SELECT timestamp, ${groupColumn(query, OF_TRACES)}, ${TRACE} FROM traces NOT INDEXED WHERE ${where.sql}`,
    );
    statement.setReturnArrays(true);
    const ids = [hexOf(firstIdOf(created.first)), hexOf(firstIdOf(created.last + 1))];
    const owner = query.tenant === undefined ? [] : [query.tenant.org_id, query.tenant.workspace_id];
    for (const row of statement.iterate(...ids, from, before, ...owner, ...where.values)) {
      const values = row as unknown as (number | string | null)[];
      for (const at of [PLACES.costThousands, PLACES.upperThousands]) {
        const { thousands, pico } = usdPartsOf(Number(values[at]));
        values[at] = thousands;
        values[at + 1] = pico;
      }
      const at = sums.add(Number(values[0]), nameOf(query, values[1]), values);
      if (needsPercentiles(query)) addLatency(sums.latenciesOf(at), bucketOf(Number(values[PLACES.latencyMs])), 1);
      if (sums.isTooMany) return;
    }
  }
}

function conditionsOf(query: MeasureQuery, sql: string[], columns = OF_SUMS): { sql: string; values: SQLInputValue[] } {
  const given = MEASURE_FILTERS.filter((column) => query[column] !== undefined);
  return {
    sql: [...sql, ...given.map((column) => `${columns[column]} = ?`)].join(' AND '),
    values: given.map((column) => query[column] ?? ''),
  };
}

function groupColumn({ groupBy }: MeasureQuery, columns = OF_SUMS): string {
  if (groupBy === 'model') return columns.model;
  return groupBy === undefined ? "''" : GROUP_COLUMNS[groupBy];
}

function nameOf({ groupBy }: MeasureQuery, value: string | number | null | undefined): string {
  const name = String(value ?? '');
  return groupBy === 'route' ? routeOf(name) : name;
}
