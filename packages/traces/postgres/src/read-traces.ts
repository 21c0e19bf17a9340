import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { bucketStartOf, DAY_MS } from '@vitrine/traces/time-buckets';
import { createdAtOf, TRACE_ID } from '@vitrine/traces/trace-id';
import { pageOf } from '@vitrine/traces/stored-trace';
import { TRACE_COLUMNS } from '@vitrine/traces/trace-columns';
import type { AncestorQuery, CheckpointQuery, TraceFilters, TraceQuery } from '@vitrine/traces/trace-store';
import { FILTER_COLUMNS } from '@vitrine/traces/trace-store';
import type { Checkpoint, TraceDetail, TracePage } from '@vitrine/traces/trace';
import { Conditions, uuidOf, type CreatedRange } from './conditions.ts';
import { byTokens, countByTokens, FEW, isByTokens, newestOf, SOME } from './by-tokens.ts';
import { needsMatchingRanges, readMatchingRanges } from './matching-ranges.ts';
import {
  CHECKPOINT_COLUMNS,
  checkpointIn,
  DETAIL_COLUMNS,
  detailIn,
  LIST_COLUMNS,
  summaryIn,
  type CheckpointRow,
  type DetailRow,
  type SummaryRow,
} from './trace-rows.ts';

/** A list reads the last day, and older days, at most this many at once, only while its page is not full. Ordered rows of all partitions need the
 *  first match of each, which a filter without an index finds only by a full scan. */
const OLDER_DAYS = [3, 12];

export async function readPage(pool: PostgresPool, query: TraceQuery): Promise<TracePage> {
  const range = await createdRangeOf(pool, query);
  if (range === undefined) return { items: [] };
  const { after, limit } = query;
  const newest = Math.min(after === undefined ? Date.now() : createdAtOf(after) + 1, range.before);
  const rows: SummaryRow[] = [];
  for await (const window of windowsOf(pool, query, range, newest)) {
    rows.push(...(await readWindow(pool, query, window, limit + 1 - rows.length)));
    if (rows.length > limit) break;
  }
  return pageOf(rows.map(summaryIn), limit);
}

/** The `created_at` of the traces of a range of `timestamp`, both ends inclusive, as stored by writers for each hour; undefined without traces. A
 *  trace is created when its exchange ends, which may be hours after it started. */
async function createdRangeOf(
  pool: PostgresPool,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): Promise<CreatedRange | undefined> {
  if (from === undefined && to === undefined) return { from: Number.NEGATIVE_INFINITY, before: Number.POSITIVE_INFINITY };
  const hours = new Conditions()
    .addTime('hour <=', to)
    .addTime('hour >=', from === undefined ? undefined : bucketStartOf(from, 'hour'));
  const [row] = await pool.query<{ first: number | null; last: number | null }>(
    `SELECT min(first_created_at) AS first, max(last_created_at) AS last FROM trace_hours ${hours.where()}`,
    hours.values,
  );
  return row === undefined || row.first === null || row.last === null ? undefined : { from: row.first, before: row.last + 1 };
}

/** In the order of ids, or by tokens if that reads less. */
async function readWindow(pool: PostgresPool, query: TraceQuery, window: CreatedRange, limit: number): Promise<SummaryRow[]> {
  const read = (sourceOf: (conditions: Conditions) => string = () => 'traces') => {
    const conditions = conditionsOf(query).addCreated(window);
    return readRows<SummaryRow>(pool, LIST_COLUMNS, conditions, limit, sourceOf(conditions));
  };
  if (!isByTokens(query)) return await read();
  const few = await countByTokens(pool, query, window, FEW);
  if (few === 0) return [];
  if (few <= FEW) return await read((conditions) => byTokens(query, window, conditions));
  const newest = await read((conditions) => newestOf(window, query.after, conditions));
  if (newest.length === limit) return newest;
  const some = await countByTokens(pool, query, window, SOME);
  return await (some > SOME ? read() : read((conditions) => byTokens(query, window, conditions)));
}

/** The ids of a conversation have indexes, so one statement reads all partitions. */
export async function readCheckpoints(pool: PostgresPool, query: CheckpointQuery): Promise<Checkpoint[]> {
  return (await readRows<CheckpointRow>(pool, CHECKPOINT_COLUMNS, conditionsOf(query), query.limit)).map(checkpointIn);
}

export async function readTrace(pool: PostgresPool, id: string, tenant?: Tenant): Promise<TraceDetail | undefined> {
  if (!TRACE_ID.test(id)) return undefined;
  const conditions = ofTenant(ofId(id), tenant);
  const [row] = await pool.query<DetailRow>(
    `SELECT ${DETAIL_COLUMNS} FROM traces JOIN trace_bodies USING (id, created_at) ${conditions.where()}`,
    conditions.values,
  );
  return row && detailIn(row);
}

/** One primary key lookup per trace, within the server. */
export async function readAncestors(pool: PostgresPool, { id, tenant, limit }: AncestorQuery): Promise<Checkpoint[]> {
  if (!TRACE_ID.test(id)) return [];
  const first = ofTenant(ofId(id), tenant);
  const columns = `${CHECKPOINT_COLUMNS}, org_id, workspace_id`;
  const sameTenant = tenant === undefined ? '' : 'AND (t.org_id, t.workspace_id) = (line.org_id, line.workspace_id)';
  const rows = await pool.query<CheckpointRow>(
    `WITH RECURSIVE line AS (
       SELECT ${columns}, 1 AS step, ARRAY[id] AS path FROM traces ${first.where()}
       UNION ALL
       SELECT ${columns.replaceAll(/"?\w+"?/g, (column) => `t.${column}`)}, line.step + 1, line.path || t.id
       FROM line JOIN traces t ON t.id = ${PARENT_ID} AND t.created_at = ${PARENT_CREATED_AT} ${sameTenant}
       WHERE line.step < ${first.value(limit)} AND t.id <> ALL (line.path)
     )
     SELECT * FROM line ORDER BY step`,
    first.values,
  );
  return rows.map(checkpointIn);
}

/** Clients may claim any parent. Only one in the form of an id can exist. */
const PARENT = `CASE WHEN line.parent_checkpoint_id ~ '^[0-9a-f]{32}$' THEN line.parent_checkpoint_id END`;
const PARENT_ID = `(${PARENT})::uuid`;
/** The time in an id selects the partition. */
const PARENT_CREATED_AT = `'epoch'::timestamptz + ('x' || left(${PARENT}, 12))::bit(48)::bigint * interval '1 millisecond'`;

function ofId(id: string): Conditions {
  return new Conditions().add('id =', id).addTime('created_at =', createdAtOf(Buffer.from(id, 'hex')));
}

function ofTenant(conditions: Conditions, tenant: Tenant | undefined): Conditions {
  return conditions.add('org_id =', tenant?.org_id).add('workspace_id =', tenant?.workspace_id);
}

const KINDS = new Map(TRACE_COLUMNS.map(({ name, kind }) => [name, kind] as const));

/** The value of a filter in the form of its column. */
function parameterOf(column: string, value: string | number | undefined): unknown {
  if (value === undefined) return undefined;
  const kind = KINDS.get(column);
  if (kind === 'time') return Number.isFinite(value) ? new Date(value) : undefined;
  return kind === 'hash' ? Buffer.from(String(value), 'hex') : value;
}

function conditionsOf(query: Omit<TraceQuery, 'limit'>): Conditions {
  const { after } = query;
  const conditions = ofTenant(new Conditions(), query.tenant);
  for (const [name, { column, operator }] of Object.entries(FILTER_COLUMNS))
    conditions.add(`"${column}" ${operator}`, parameterOf(column, query[name as keyof TraceFilters]));
  if (after !== undefined) conditions.add('id <', uuidOf(after)).addTime('created_at <=', createdAtOf(after));
  return conditions;
}

function readRows<R extends SummaryRow>(
  pool: PostgresPool,
  columns: string,
  conditions: Conditions,
  limit: number,
  source = 'traces',
): Promise<R[]> {
  const where = conditions.where();
  return pool.query<R>(
    `SELECT ${columns} FROM ${source} ${where} ORDER BY id DESC LIMIT ${conditions.value(limit)}`,
    conditions.values,
  );
}

async function* windowsOf(
  pool: PostgresPool,
  query: TraceQuery,
  { from, before }: CreatedRange,
  newest: number,
): AsyncGenerator<CreatedRange> {
  const start = Math.max(from, newest - DAY_MS);
  yield { from: start, before };
  if (start === from) return;
  const older = { from, before: start };
  for (const range of needsMatchingRanges(query) ? await readMatchingRanges(pool, query, older) : [older]) yield* growing(range);
}

function* growing({ from, before }: CreatedRange): Generator<CreatedRange> {
  let end = before;
  for (const days of OLDER_DAYS) {
    const start = end - days * DAY_MS;
    if (start <= from) break;
    yield { from: start, before: end };
    end = start;
  }
  yield { from, before: end };
}
