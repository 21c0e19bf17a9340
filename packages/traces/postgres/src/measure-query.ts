import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { splitRange, type Span } from '@vitrine/traces/split-range';
import {
  MEASURE_PARTS,
  MEASURES_MAX,
  needsPercentiles,
  type MeasurePart,
  MEASURE_FILTERS,
  type MeasureQuery,
} from '@vitrine/traces/trace-measures';
import { ALL_TENANTS, Conditions } from './conditions.ts';

type Sums = Readonly<Record<string, string>>;
type Extremes = Readonly<Record<string, readonly ['min' | 'max', string]>>;

/** The sums of `trace_sums_*`, and the same for a single trace. */
const SUMS: Readonly<Record<MeasurePart, Sums>> = {
  tokens: { input_tokens: 'input_tokens', output_tokens: 'output_tokens', total_tokens: 'total_tokens' },
  cost: { cost_usd: 'estimated_cost_usd', cost_upper_usd: 'coalesce(cost_upper_usd, estimated_cost_usd)' },
  unknown: {
    unpriced: `(cost_status = 'unpriced')::int`,
    estimated: `(cost_status = 'estimated')::int`,
    missing_usage: `(usage_status IN ('missing', 'undecodable') AND cost_status <> 'free')::int`,
  },
  rejected: { rejected: `(outcome = 'rejected')::int` },
  errors: { errors_4xx: '(response_status BETWEEN 400 AND 499)::int', errors_5xx: '(response_status >= 500)::int' },
  latency: { latency_ms: 'latency_ms' },
  percentiles: {},
  firstToken: { streams: '(time_to_first_token_us > 0)::int', first_token_us: 'time_to_first_token_us' },
  lastActive: {},
};
const EXTREMES: Readonly<Partial<Record<MeasurePart, Extremes>>> = {
  latency: { latency_ms_min: ['min', 'latency_ms'], latency_ms_max: ['max', 'latency_ms'] },
  lastActive: { last_active_at: ['max', '"timestamp"'] },
};

const GROUP_COLUMNS = {
  provider: 'provider',
  route: `CASE WHEN provider IN ('openai', 'anthropic') THEN '/' || provider || '/*' ELSE '/other' END`,
  key: 'gateway_key_id',
} as const;

/** Traces read for a part of an hour: their hour, and the `created_at` range of traces that started in it. */
export interface PartHour {
  readonly hour: number;
  readonly first: number;
  readonly last: number;
  /** Whether some of its traces may have been removed. */
  readonly isGone: boolean;
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The hours that a range covers only partially. */
export function partHoursOf({ from, to, bucket }: MeasureQuery): number[] {
  return splitRange(from, to, bucket).parts.map((part) => bucketStartOf(part.from, 'hour'));
}

/** One statement, and so one snapshot, for whole days, whole hours and the parts of hours at the edges of the range. A row is a bucket, and its
 *  columns are arrays with one element per group: a month by model and hour is 720 rows instead of 30,000. Buckets and groups are in order. */
export function measureStatement(query: MeasureQuery, partHours: readonly PartHour[]): Statement {
  const { days, hours, parts } = splitRange(query.from, query.to, query.bucket);
  const values = new Conditions();
  const sources = [
    ...days.map((span) => sumsIn(query, 'day', span, values.nested())),
    ...hours.map((span) => sumsIn(query, 'hour', span, values.nested())),
    ...parts.flatMap((part) => {
      const hour = partHours.find((one) => one.hour === bucketStartOf(part.from, 'hour'));
      if (hour === undefined) return [];
      if (!hour.isGone) return [tracesIn(query, part, hour, values.nested())];
      // An hour whose traces were removed counts completely if it begins in the range.
      return hour.hour < part.from ? [] : [sumsIn(query, 'hour', { from: hour.hour, before: part.before }, values.nested())];
    }),
  ];
  const text = sources.length === 0 ? 'SELECT NULL::timestamptz AS bucket WHERE false' : bucketsOf(query, sources);
  return { text, values: values.values };
}

function bucketsOf(query: MeasureQuery, sources: readonly string[]): string {
  const [sums, extremes] = [Object.keys(sumsOf(query)), Object.entries(extremesOf(query))];
  const latencies = needsPercentiles(query) ? ['latencies', 'latency'] : [];
  const totals = [
    ...sums.map((name) => `sum(${name}) AS ${name}`),
    ...extremes.map(([name, [which]]) => `${which}(${name}) AS ${name}`),
    ...latencies.map((name) => `string_agg(${name}, ',') AS ${name}`),
  ];
  const arrays = [...sums, ...extremes.map(([name]) => name), ...latencies].map(
    (name) => `json_agg(${elementOf(name)}) AS ${name}`,
  );
  return `SELECT bucket, json_agg(grp) AS names, ${arrays.join(', ')} FROM (
      SELECT bucket, grp, ${totals.join(', ')} FROM (${sources.join(' UNION ALL ')}) AS rows
      GROUP BY bucket, grp ORDER BY bucket, grp LIMIT ${MEASURES_MAX + 1}
    ) AS sums GROUP BY bucket ORDER BY bucket`;
}

/** A JSON number would lose digits of money. */
function elementOf(name: string): string {
  if (name === 'last_active_at') return 'floor(extract(epoch FROM last_active_at) * 1000)';
  return name === 'cost_usd' || name === 'cost_upper_usd' ? `${name}::text` : name;
}

/** The rows of the tenant. Without one, by model those of all tenants, and by key those of each. */
function sumsIn(query: MeasureQuery, unit: 'hour' | 'day', { from, before }: Span, where: Conditions): string {
  const columns = [...Object.keys(sumsOf(query)), ...Object.keys(extremesOf(query))];
  if (needsPercentiles(query)) columns.push(`array_to_string(latencies, ',') AS latencies`, 'NULL AS latency');
  where.addTime('bucket_start >=', from).addTime('bucket_start <', before);
  const start = query.bucket === unit ? 'bucket_start' : startOf(query, 'bucket_start');
  if (query.groupBy === 'key' || query.groupBy === 'api_key_hash')
    return select(query, start, columns, `trace_sums_by_key_${unit}`, where, 'api_key_hash');
  return select({ ...query, tenant: query.tenant ?? ALL_TENANTS }, start, columns, `trace_sums_by_model_${unit}`, where, `''`);
}

function tracesIn(query: MeasureQuery, { from, before }: Span, hour: PartHour, where: Conditions): string {
  const columns = [
    ...Object.entries(sumsOf(query)).map(([name, value]) => `${value} AS ${name}`),
    ...Object.entries(extremesOf(query)).map(([name, [, value]]) => `${value} AS ${name}`),
    ...(needsPercentiles(query) ? ['NULL AS latencies', 'latency_ms::text AS latency'] : []),
  ];
  where.addTime('"timestamp" >=', from).addTime('"timestamp" <', before);
  where.addCreated({ from: hour.first, before: hour.last + 1 });
  const hash = `coalesce(encode(api_key_hash, 'hex'), '')`;
  return select(query, startOf(query, '"timestamp"'), columns, 'traces', where, hash, 'coalesce(response_model, model)');
}

function select(
  query: MeasureQuery,
  start: string,
  columns: readonly string[],
  table: string,
  where: Conditions,
  hash: string,
  /** The model that served, by which sums are. */
  model = 'model',
): string {
  const { groupBy, tenant } = query;
  const group = groupBy === undefined ? `''` : { ...GROUP_COLUMNS, api_key_hash: hash, model }[groupBy];
  where.add('org_id =', tenant?.org_id).add('workspace_id =', tenant?.workspace_id);
  for (const column of MEASURE_FILTERS) where.add(`${column === 'model' ? model : column} =`, query[column]);
  return `SELECT ${start} AS bucket, ${group} COLLATE "C" AS grp, ${columns.join(', ')} FROM ${table} ${where.where()}`;
}

function startOf({ bucket }: MeasureQuery, time: string): string {
  return bucket === undefined ? `'epoch'::timestamptz` : `date_trunc('${bucket}', ${time}, 'UTC')`;
}

function sumsOf({ parts = MEASURE_PARTS }: MeasureQuery): Sums {
  return Object.assign({ requests: '1' }, ...parts.map((part) => SUMS[part])) as Sums;
}

function extremesOf({ parts = MEASURE_PARTS }: MeasureQuery): Extremes {
  return Object.assign({}, ...parts.map((part) => EXTREMES[part])) as Extremes;
}
