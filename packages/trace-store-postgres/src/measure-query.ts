import { bucketStartOf } from '@vitrine/traces/time-buckets';
import { splitRange, type Span } from '@vitrine/traces/split-range';
import {
  MEASURE_PARTS,
  MEASURES_MAX,
  needsPercentiles,
  type MeasurePart,
  type MeasureQuery,
} from '@vitrine/traces/trace-measures';
import { ALL_TENANTS, unpacked, unsummed } from './all-tenants.ts';
import { Conditions } from './conditions.ts';
import { packedGroupOf, packedMarkOf, type PackedGroup } from './packed-groups.ts';

type Sums = Readonly<Record<string, string>>;
type Extremes = Readonly<Record<string, readonly ['min' | 'max', string]>>;

/** The sums of `trace_sums_*`, and the same of one trace. */
const SUMS: Readonly<Record<MeasurePart, Sums>> = {
  tokens: { input_tokens: 'input_tokens', output_tokens: 'output_tokens', total_tokens: 'total_tokens' },
  cost: { cost_usd: 'estimated_cost_usd' },
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
  model: 'model',
  route: `CASE WHEN provider IN ('openai', 'anthropic') THEN '/' || provider || '/*' ELSE '/other' END`,
  key: 'gateway_key_id',
  api_key_hash: 'api_key_hash',
} as const;

/** Traces that are read for a part of an hour: their hour, and the `created_at` of what started in it. */
export interface PartHour {
  readonly hour: number;
  readonly first: number;
  readonly last: number;
  /** Whether some of its traces may have been removed. */
  readonly isGone: boolean;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The hours of which a range has a part only. */
export function partHoursOf({ from, to, bucket }: MeasureQuery): number[] {
  return splitRange(from, to, bucket).parts.map((part) => bucketStartOf(part.from, 'hour'));
}

/** One statement, and so one moment, for whole days, whole hours and the parts of hours at the edges of the range. Its rows are arrays: packed
 *  ones (`is_packed`) as they are kept, and of all other sums one for each bucket. */
export function measureStatement(query: MeasureQuery, partHours: readonly PartHour[], now: number): Statement {
  const { days, hours, parts } = splitRange(query.from, query.to, query.bucket);
  const values = new Conditions();
  const group = packedGroupOf(query);
  const whole = [
    ...days.flatMap((span) => wholeDays(span, group === undefined ? Number.POSITIVE_INFINITY : bucketStartOf(now, 'day'))),
    ...hours.map((span) => ({ unit: 'hour', span }) as const),
    // An hour whose traces were removed counts whole when it begins in the range.
    ...parts.flatMap((part) => {
      const gone = partHours.find(({ hour, isGone }) => isGone && hour === bucketStartOf(part.from, 'hour') && hour >= part.from);
      return gone === undefined ? [] : [{ unit: 'hour', span: { ...part, from: gone.hour } } as const];
    }),
  ];
  const packed = group === undefined ? [] : whole.map(({ unit, span }) => packedRows(query, group, unit, span, values.nested()));
  const others = [
    ...whole.flatMap(({ unit, span }) => sumsIn(query, unit, span, values)),
    ...parts.flatMap((part) => {
      const hour = partHours.find((one) => !one.isGone && one.hour === bucketStartOf(part.from, 'hour'));
      return hour === undefined ? [] : [tracesIn(query, part, hour, values)];
    }),
  ];
  const selects = [...packed, ...(others.length === 0 ? [] : [arraysOf(query, others)])];
  return {
    text: selects.length === 0 ? 'SELECT NULL::timestamptz AS bucket WHERE false' : selects.join(' UNION ALL '),
    values: values.values,
  };
}

/** Most hours of today are packed, which its day is not yet. */
function wholeDays({ from, before }: Span, today: number): { readonly unit: 'hour' | 'day'; readonly span: Span }[] {
  const split = Math.min(Math.max(from, today), before);
  return [
    ...(from < split ? [{ unit: 'day', span: { from, before: split } } as const] : []),
    ...(split < before ? [{ unit: 'hour', span: { from: split, before } } as const] : []),
  ];
}

/** Rows of `trace_sums_packed_*`, where these are complete. Histograms are base64: a month by key has 2.6 MB of them, which as hexadecimal digits took
 *  the reader 7 ms more, and the server 3 less. */
function packedRows(
  query: MeasureQuery,
  group: PackedGroup,
  unit: 'hour' | 'day',
  { from, before }: Span,
  where: Conditions,
): string {
  const { org_id: org, workspace_id: workspace } = query.tenant ?? ALL_TENANTS;
  where.add('org_id =', org).add('workspace_id =', workspace).add('grouped_by =', group);
  where.addTime('bucket_start >=', from).addTime('bucket_start <', before);
  where.addSql(`bucket_start <> ALL (ARRAY(${unpacked(unit, packedMarkOf(query, group))}))`);
  const columns = [...Object.keys(sumsOf(query)), ...Object.keys(extremesOf(query))];
  if (needsPercentiles(query))
    columns.push(`encode(latencies, 'base64') AS packed_latencies`, 'NULL::json AS latencies', 'NULL::json AS latency');
  return `SELECT true AS is_packed, bucket_start AS bucket, names::text, ${columns.join(', ')} FROM trace_sums_packed_${unit} ${where.where()}`;
}

/** The same columns, added up from rows of single groups. */
function arraysOf(query: MeasureQuery, sources: readonly string[]): string {
  const [sums, extremes] = [Object.keys(sumsOf(query)), Object.entries(extremesOf(query))];
  const totals = [
    ...sums.map((name) => `sum(${name}) AS ${name}`),
    ...extremes.map(([name, [which]]) => `${which}(${name}) AS ${name}`),
    ...(needsPercentiles(query) ? [`string_agg(latencies, ',') AS latencies`, `string_agg(latency, ',') AS latency`] : []),
  ];
  const arrays = [...sums, ...extremes.map(([name]) => name)].map((name) => `json_agg(${elementOf(name)}) AS ${name}`);
  if (needsPercentiles(query))
    arrays.push('NULL AS packed_latencies', 'json_agg(latencies) AS latencies', 'json_agg(latency) AS latency');
  return `SELECT false AS is_packed, bucket, json_agg(grp)::text AS names, ${arrays.join(', ')} FROM (
      SELECT bucket, grp, ${totals.join(', ')} FROM (${sources.join(' UNION ALL ')}) AS rows
      GROUP BY bucket, grp ORDER BY bucket, grp LIMIT ${MEASURES_MAX + 1}
    ) AS sums GROUP BY bucket`;
}

/** A number of JSON would lose digits of money. */
function elementOf(name: string): string {
  if (name === 'last_active_at') return 'floor(extract(epoch FROM last_active_at) * 1000)';
  return name === 'cost_usd' ? 'cost_usd::text' : name;
}

/** The rows of the tenant, or by model those of all tenants with the rows of each tenant where these are not complete; only those of hours
 *  and days that are not packed, if the others are read packed. */
function sumsIn(query: MeasureQuery, unit: 'hour' | 'day', span: Span, values: Conditions): string[] {
  const group = packedGroupOf(query);
  if (group !== undefined) {
    const starts = unpacked(unit, packedMarkOf(query, group));
    const open = values.nested().addSql(`bucket_start = ANY (ARRAY(${starts}))`);
    // The planner expects ten of them, a third of all days, and would read the table. Of a range it expects little.
    for (const [comparison, extreme] of [
      ['>=', 'min'],
      ['<=', 'max'],
    ] as const)
      open.addSql(`bucket_start ${comparison} (SELECT ${extreme}(start) FROM (${starts}) AS starts (start))`);
    if (query.tenant === undefined) open.add('org_id <>', ALL_TENANTS.org_id);
    return [sumsOfRows(query, unit, span, open)];
  }
  if (isByKey(query) || query.tenant !== undefined) return [sumsOfRows(query, unit, span, values.nested())];
  const complete = values.nested().addSql(`bucket_start <> ALL (ARRAY(${unsummed(unit)}))`);
  const others = values
    .nested()
    .addSql(`bucket_start = ANY (ARRAY(${unsummed(unit)}))`)
    .add('org_id <>', ALL_TENANTS.org_id);
  return [sumsOfRows({ ...query, tenant: ALL_TENANTS }, unit, span, complete), sumsOfRows(query, unit, span, others)];
}

function sumsOfRows(query: MeasureQuery, unit: 'hour' | 'day', { from, before }: Span, where: Conditions): string {
  const columns = [...Object.keys(sumsOf(query)), ...Object.keys(extremesOf(query))];
  if (needsPercentiles(query)) columns.push(`array_to_string(latencies, ',') AS latencies`, 'NULL AS latency');
  where.addTime('bucket_start >=', from).addTime('bucket_start <', before);
  const start = query.bucket === unit ? 'bucket_start' : startOf(query, 'bucket_start');
  const table = `trace_sums_by_${isByKey(query) ? 'key' : 'model'}_${unit}`;
  return select(query, start, columns, table, where, 'api_key_hash');
}

function tracesIn(query: MeasureQuery, { from, before }: Span, hour: PartHour, values: Conditions): string {
  const columns = [
    ...Object.entries(sumsOf(query)).map(([name, value]) => `${value} AS ${name}`),
    ...Object.entries(extremesOf(query)).map(([name, [, value]]) => `${value} AS ${name}`),
    ...(needsPercentiles(query) ? ['NULL AS latencies', 'latency_ms::text AS latency'] : []),
  ];
  const where = values.nested().addTime('"timestamp" >=', from).addTime('"timestamp" <', before);
  where.addCreated({ from: hour.first, before: hour.last + 1 });
  return select(query, startOf(query, '"timestamp"'), columns, 'traces', where, `coalesce(encode(api_key_hash, 'hex'), '')`);
}

function select(
  { groupBy, tenant, provider, model }: MeasureQuery,
  start: string,
  columns: readonly string[],
  table: string,
  where: Conditions,
  hash: string,
): string {
  const group = groupBy === undefined ? `''` : groupBy === 'api_key_hash' ? hash : GROUP_COLUMNS[groupBy];
  where.add('org_id =', tenant?.org_id).add('workspace_id =', tenant?.workspace_id);
  where.add('provider =', provider).add('model =', model);
  return `SELECT ${start} AS bucket, ${group} COLLATE "C" AS grp, ${columns.join(', ')} FROM ${table} ${where.where()}`;
}

function startOf({ bucket }: MeasureQuery, time: string): string {
  return bucket === undefined ? `'epoch'::timestamptz` : `date_trunc('${bucket}', ${time}, 'UTC')`;
}

function isByKey({ groupBy }: MeasureQuery): boolean {
  return groupBy === 'key' || groupBy === 'api_key_hash';
}

function sumsOf({ parts = MEASURE_PARTS }: MeasureQuery): Sums {
  return Object.assign({ requests: '1' }, ...parts.map((part) => SUMS[part])) as Sums;
}

function extremesOf({ parts = MEASURE_PARTS }: MeasureQuery): Extremes {
  return Object.assign({}, ...parts.map((part) => EXTREMES[part])) as Extremes;
}
