import type { Queryable } from '@vitrine/postgres/connection';
import { usageSums, type UsageSum } from '@vitrine/traces/day-usage';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { TraceSums, type TraceSum } from '@vitrine/traces/trace-sums';
import { usdText } from '@vitrine/traces/usd';
import { ALL_TENANTS } from './conditions.ts';
import { timeText, type TextRow } from './trace-columns.ts';

type Added<Row> = readonly [name: string, type: string, value: (row: Row) => string, onConflict?: string];

const added = (name: string) => `${name} = t.${name} + excluded.${name}`;
const least = (name: string) => `${name} = least(t.${name}, excluded.${name})`;
const greatest = (name: string) => `${name} = greatest(t.${name}, excluded.${name})`;
const sum = <Row>(name: string, value: (row: Row) => number): Added<Row> => [
  name,
  'bigint',
  (row) => String(value(row)),
  added(name),
];

/** An upsert of rows whose key columns have no `onConflict`. */
class SumTable<Row> {
  readonly #table: string;
  readonly #columns: readonly Added<Row>[];
  readonly #statement: string;

  constructor(table: string, columns: readonly Added<Row>[]) {
    this.#table = table;
    this.#columns = columns;
    const names = columns.map(([name]) => name).join(', ');
    const arrays = columns.map((_, at) => `$${at + 1}::text[]`).join(', ');
    // Every array has text elements, because `unnest` would flatten an array of arrays.
    const values = columns.map(([name, type]) => `${name}::${type}`).join(', ');
    const key = columns.filter(([, , , onConflict]) => onConflict === undefined).map(([name]) => name);
    const updates = columns.flatMap(([, , , onConflict]) => onConflict ?? []);
    this.#statement = `INSERT INTO ${table} AS t (${names}) SELECT ${values} FROM unnest(${arrays}) AS rows (${names})
      ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${updates.join(', ')}`;
  }

  /** Locks rows in the order in which they are given. */
  async add(queryable: Queryable, rows: readonly Row[]): Promise<void> {
    const values: TextRow[] = this.#columns.map(([, , value]) => rows.map(value));
    await queryable.execute(this.#statement, values, { name: `add to ${this.#table}` });
  }
}

/** Pairs are appended, and merged only at this many numbers, because merging takes 80 µs a row, which for a hundred keys is as long as the COPY of
 *  their batch. Readers merge anyway. */
const LATENCIES_ADDED_UP_AT = 512;
const ADD_LATENCIES = `latencies = CASE WHEN cardinality(t.latencies) < ${LATENCIES_ADDED_UP_AT} THEN t.latencies || excluded.latencies
  ELSE add_latencies(t.latencies, excluded.latencies) END`;
const keyColumns = (names: readonly string[]): Added<TraceSum>[] =>
  names.map((name, at) => [name, 'text', ({ key }) => key[at] ?? '']);
const sumTable = (table: string, key: readonly string[]) =>
  new SumTable<TraceSum>(table, [
    ['bucket_start', 'timestamptz', ({ bucketStart }) => timeText(bucketStart)],
    ...keyColumns(key),
    sum('requests', ({ requests }) => requests),
    sum('rejected', ({ rejected }) => rejected),
    sum('unpriced', ({ unpriced }) => unpriced),
    sum('estimated', ({ estimated }) => estimated),
    sum('missing_usage', ({ missingUsage }) => missingUsage),
    sum('errors_4xx', ({ errors4xx }) => errors4xx),
    sum('errors_5xx', ({ errors5xx }) => errors5xx),
    sum('streams', ({ streams }) => streams),
    sum('input_tokens', ({ inputTokens }) => inputTokens),
    sum('output_tokens', ({ outputTokens }) => outputTokens),
    sum('total_tokens', ({ totalTokens }) => totalTokens),
    ['cost_usd', 'numeric', ({ cost }) => usdText(cost.thousands, cost.pico), added('cost_usd')],
    ['cost_upper_usd', 'numeric', ({ upper }) => usdText(upper.thousands, upper.pico), added('cost_upper_usd')],
    sum('latency_ms', ({ latencyMs }) => latencyMs),
    ['latency_ms_min', 'bigint', ({ latencyMsMin }) => String(latencyMsMin), least('latency_ms_min')],
    ['latency_ms_max', 'bigint', ({ latencyMsMax }) => String(latencyMsMax), greatest('latency_ms_max')],
    sum('first_token_us', ({ firstTokenUs }) => firstTokenUs),
    ['last_active_at', 'timestamptz', ({ lastActive }) => timeText(lastActive), greatest('last_active_at')],
    ['latencies', 'integer[]', latenciesText, ADD_LATENCIES],
  ]);
const BY_KEY = ['org_id', 'workspace_id', 'gateway_key_id', 'api_key_hash', 'provider', 'model'];
const BY_MODEL = ['org_id', 'workspace_id', 'provider', 'model'];
const KEY_HOURS = sumTable('trace_sums_by_key_hour', BY_KEY);
const KEY_DAYS = sumTable('trace_sums_by_key_day', BY_KEY);
const MODEL_HOURS = sumTable('trace_sums_by_model_hour', BY_MODEL);
const MODEL_DAYS = sumTable('trace_sums_by_model_day', BY_MODEL);

const HOURS = new SumTable<TraceSum>('trace_hours', [
  ['hour', 'timestamptz', ({ bucketStart }) => timeText(bucketStart)],
  ['first_created_at', 'timestamptz', ({ firstCreated }) => timeText(firstCreated), least('first_created_at')],
  ['last_created_at', 'timestamptz', ({ lastCreated }) => timeText(lastCreated), greatest('last_created_at')],
]);

const DAY_USAGE = new SumTable<UsageSum>('day_usage', [
  ['day', 'date', ({ day }) => day],
  ['org_id', 'text', (row) => row.org_id],
  ['workspace_id', 'text', (row) => row.workspace_id],
  ['gateway_key_id', 'text', (row) => row.gateway_key_id],
  sum('requests', ({ requests }) => requests),
  sum('total_tokens', (row) => row.total_tokens),
  sum('estimated_tokens', (row) => row.estimated_tokens),
  ['cost_usd', 'numeric', ({ cost }) => usdText(cost.thousands, cost.pico), added('cost_usd')],
  ['cost_upper_usd', 'numeric', ({ upper }) => usdText(upper.thousands, upper.pico), added('cost_upper_usd')],
]);

/** Adds inserted traces to every sum. The sums with the fewest rows come last, because all writers wait for these until the commit. */
export async function addSums(queryable: Queryable, records: readonly TraceRecord[]): Promise<void> {
  const keyHours = TraceSums.ofTraces(records);
  const modelHours = keyHours.byModel();
  const hoursOfAll = modelHours.byModelOfAllTenants();
  await DAY_USAGE.add(queryable, usageSums(records));
  await KEY_HOURS.add(queryable, keyHours.sorted());
  await KEY_DAYS.add(queryable, keyHours.byDay().sorted());
  await MODEL_HOURS.add(queryable, modelHours.sorted());
  await MODEL_DAYS.add(queryable, modelHours.byDay().sorted());
  await MODEL_HOURS.add(queryable, rowsOfAllTenants(hoursOfAll));
  await MODEL_DAYS.add(queryable, rowsOfAllTenants(hoursOfAll.byDay()));
  await HOURS.add(queryable, hoursOfAll.byHour().sorted());
}

function rowsOfAllTenants(sums: TraceSums): TraceSum[] {
  return sums.sorted().map((sum) => ({ ...sum, key: [ALL_TENANTS.org_id, ALL_TENANTS.workspace_id, ...sum.key] }));
}

/** Pairs of bucket and count, as a literal of an array. */
function latenciesText({ latencies }: TraceSum): string {
  const pairs = [...latencies].toSorted(([left], [right]) => left - right);
  return `{${pairs.map(([bucket, count]) => `{${bucket},${count}}`).join(',')}}`;
}
