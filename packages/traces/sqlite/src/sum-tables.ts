import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { usageSums } from '@vitrine/traces/day-usage';
import { addLatency } from '@vitrine/traces/latency-histogram';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { TraceSums, type TraceSum } from '@vitrine/traces/trace-sums';
import { LATENCIES_ADDED_UP_AT, latenciesText, readLatencies } from './latencies-text.ts';

/** The largest safe integer of JavaScript. Unrealistic sums are capped at it. */
const MOST = Number.MAX_SAFE_INTEGER;
const added = (name: string) => `${name} = min(${name} + excluded.${name}, ${MOST})`;
const money = (name: string) => `
  ${name}_thousands = min(${name}_thousands + excluded.${name}_thousands
    + (${name}_pico + excluded.${name}_pico) / 1000000000000000, ${MOST}),
  ${name}_pico = (${name}_pico + excluded.${name}_pico) % 1000000000000000`;
const COSTS = `${money('cost')}, ${money('upper')}`;
const COST_COLUMNS = ['cost_thousands', 'cost_pico', 'upper_thousands', 'upper_pico'];
const COUNTS = ['requests', 'rejected', 'unpriced', 'estimated', 'missing_usage', 'errors_4xx', 'errors_5xx', 'streams'];
const SUMMED = [...COUNTS, 'input_tokens', 'output_tokens', 'total_tokens', 'latency_ms', 'first_token_us'];
const SUM_KEY = ['level', 'org_id', 'workspace_id', 'bucket_start', 'gateway_key_id', 'api_key_hash', 'provider', 'model'];
const EXTREMES = ['latency_ms_min', 'latency_ms_max', 'last_active_at', 'first_created_at', 'last_created_at', 'latencies'];
const insert = (table: string, columns: readonly string[]) =>
  `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`;

const ADD_SUM = `${insert('trace_sums', [...SUM_KEY, ...SUMMED, ...COST_COLUMNS, ...EXTREMES])} ON CONFLICT DO UPDATE SET
  ${SUMMED.map(added).join(', ')}, ${COSTS},
  latency_ms_min = min(latency_ms_min, excluded.latency_ms_min), latency_ms_max = max(latency_ms_max, excluded.latency_ms_max),
  last_active_at = max(last_active_at, excluded.last_active_at),
  first_created_at = min(first_created_at, excluded.first_created_at), last_created_at = max(last_created_at, excluded.last_created_at),
  latencies = CASE WHEN length(latencies) < ${LATENCIES_ADDED_UP_AT} THEN latencies || excluded.latencies
    ELSE add_up_latencies(latencies || excluded.latencies) END`;
const USED = ['requests', 'total_tokens', 'estimated_tokens'];
const ADD_USAGE = `${insert('day_usage', ['day', 'org_id', 'workspace_id', 'gateway_key_id', ...USED, ...COST_COLUMNS])}
  ON CONFLICT DO UPDATE SET ${USED.map(added).join(', ')}, ${COSTS}`;

/** The tenant of the sums of all tenants. */
export const NO_TENANT: Tenant = { org_id: '', workspace_id: '' };
export const LEVELS = ['key_hour', 'key_day', 'model_hour', 'model_day', 'all_hour', 'all_day'] as const;
export type Level = (typeof LEVELS)[number];

/** The tenants whose traces are or were in the file. */
export function tenantsIn(database: DatabaseSync): Tenant[] {
  const sql = "SELECT DISTINCT org_id, workspace_id FROM trace_sums WHERE level = 'model_day' ORDER BY 1, 2";
  return database
    .prepare(sql)
    .all()
    .map((row) => ({ org_id: String(row['org_id']), workspace_id: String(row['workspace_id']) }));
}

/** Adds inserted traces to every sum, in the transaction of the traces. */
export class SumTables {
  readonly #addSum: StatementSync;
  readonly #addUsage: StatementSync;

  constructor(database: DatabaseSync) {
    database.function('add_up_latencies', { deterministic: true }, (text) => addedUp(String(text)));
    this.#addSum = database.prepare(ADD_SUM);
    this.#addUsage = database.prepare(ADD_USAGE);
  }

  add(records: readonly TraceRecord[]): void {
    const keyHours = TraceSums.ofTraces(records);
    const modelHours = keyHours.byModel();
    const allHours = modelHours.byModelOfAllTenants();
    this.#addAll('key', keyHours, (key) => key);
    this.#addAll('model', modelHours, ([org = '', workspace = '', ...model]) => [org, workspace, '', '', ...model]);
    this.#addAll('all', allHours, (model) => ['', '', '', '', ...model]);
    this.#addUsageOf(records);
  }

  #addAll(kind: 'key' | 'model' | 'all', hours: TraceSums, columns: (key: readonly string[]) => readonly string[]): void {
    for (const sum of hours.sorted()) this.#addSum.run(...valuesOf(`${kind}_hour`, columns(sum.key), sum));
    for (const sum of hours.byDay().sorted()) this.#addSum.run(...valuesOf(`${kind}_day`, columns(sum.key), sum));
  }

  #addUsageOf(records: readonly TraceRecord[]): void {
    for (const { day, org_id, workspace_id, gateway_key_id, cost, upper, ...used } of usageSums(records)) {
      const counts = [used.requests, used.total_tokens, used.estimated_tokens].map((count) => Math.min(count, MOST));
      const costs = [cost.thousands, cost.pico, upper.thousands, upper.pico];
      this.#addUsage.run(day, org_id, workspace_id, gateway_key_id, ...counts, ...costs);
    }
  }
}

function valuesOf(level: string, [org = '', workspace = '', ...key]: readonly string[], sum: TraceSum): SQLInputValue[] {
  const counts = [
    sum.requests,
    sum.rejected,
    sum.unpriced,
    sum.estimated,
    sum.missingUsage,
    sum.errors4xx,
    sum.errors5xx,
    sum.streams,
  ];
  const sums = [...counts, sum.inputTokens, sum.outputTokens, sum.totalTokens, sum.latencyMs, sum.firstTokenUs];
  return [
    level,
    org,
    workspace,
    sum.bucketStart,
    ...key,
    ...sums.map((value) => Math.min(value, MOST)),
    sum.cost.thousands,
    sum.cost.pico,
    sum.upper.thousands,
    sum.upper.pico,
    sum.latencyMsMin,
    sum.latencyMsMax,
    sum.lastActive,
    sum.firstCreated,
    sum.lastCreated,
    latenciesText(sum.latencies),
  ];
}

function addedUp(text: string): string {
  const counts: number[] = [];
  readLatencies(text, (bucket, count) => addLatency(counts, bucket, count));
  return latenciesText(counts.entries().filter(([, count]) => count > 0));
}
