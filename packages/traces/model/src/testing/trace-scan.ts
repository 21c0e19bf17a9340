import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DayUsage } from '../day-usage.ts';
import { bucketStartOf, BUCKETS } from '../time-buckets.ts';
import { GROUPS, MEASURE_PARTS, needsPercentiles, type Measure, type MeasureQuery } from '../trace-measures.ts';
import { createTraceIds } from '../trace-id.ts';
import type { TraceRecord } from '../trace-record.ts';
import { readCursor, type TraceQuery } from '../trace-store.ts';
import { COST_STATUSES, USAGE_STATUSES } from '../trace-values.ts';
import { PICO_PER_USD, usdOf } from '../usd.ts';
import { write, type ContractStore } from './contract-store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** A Monday: hour, day and week begin at once. */
const MONDAY = Date.UTC(2026, 0, 5);

const SCOPES = [
  ['one', 'shop', 'gk_1', 'member'],
  ['one', 'shop', 'gk_2', 'viewer'],
  ['one', 'shop', 'gk_2', 'owner'],
  ['one', 'lab', 'gk_3', 'member'],
  ['default', 'default', '', ''],
  ['', '', '', ''],
].map(([org_id = '', workspace_id = '', gateway_key_id = '', role = '']) => ({ org_id, workspace_id, gateway_key_id, role }));
const TENANTS = [
  undefined,
  { org_id: 'one', workspace_id: 'shop' },
  { org_id: 'one', workspace_id: 'lab' },
  { org_id: 'no', workspace_id: 'body' },
];
const HASHES = [undefined, new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const hexOf = (bytes: Uint8Array | undefined) => (bytes === undefined ? '' : Buffer.from(bytes).toString('hex'));

const nearEdge = fc.tuple(fc.constantFrom(0, 0, HOUR, DAY, 7 * DAY), fc.integer({ min: -2, max: 2 }));
const moment = fc.oneof(
  { weight: 3, arbitrary: nearEdge.map(([edge, off]) => MONDAY + edge + off) },
  { weight: 1, arbitrary: fc.integer({ min: MONDAY - 2 * DAY, max: MONDAY + 9 * DAY }) },
);
/** Most queries have few filters, or most results would be empty. */
const rarely = <T>(...values: T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constantFrom(...values) });
const range = fc
  .tuple(fc.option(moment, { nil: undefined, freq: 2 }), fc.option(moment, { nil: undefined, freq: 2 }))
  .map(([one, other]) =>
    one !== undefined && other !== undefined && one > other ? { from: other, to: one } : { from: one, to: other },
  );

const trace = fc.record({
  timestamp: moment,
  latency_ms: fc.oneof({ weight: 3, arbitrary: fc.nat(2) }, fc.nat(200), fc.nat(20_000), fc.nat(3 * HOUR)),
  /** Offset of `created_at` by a clock that is set in between. */
  skew: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: -2 * DAY, max: 2 * DAY })),
  scope: fc.constantFrom(...SCOPES),
  provider: fc.constantFrom('openai' as const, 'anthropic' as const, 'unknown' as const),
  model: fc.constantFrom('small', 'large', 'unknown'),
  response_model: fc.constantFrom(undefined, undefined, 'small', 'served'),
  outcome: fc.constantFrom('completed' as const, 'completed' as const, 'rejected' as const, 'client_closed' as const),
  usage_status: fc.constantFrom(...USAGE_STATUSES),
  cost_status: fc.constantFrom(...COST_STATUSES),
  api_key_hash: fc.constantFrom(...HASHES),
  response_status: fc.constantFrom(200, 200, 201, 404, 429, 499, 500, 503),
  input_tokens: fc.nat(5_000),
  output_tokens: fc.nat(5_000),
  total_tokens: fc.oneof(fc.nat(10), fc.nat(10_000_000)),
  time_to_first_token_us: fc.oneof(fc.constant(0), fc.nat(9_000_000)),
  estimated_cost_usd: fc.oneof(fc.nat(10_000_000), fc.integer({ min: 0, max: 20e12 })).map((pico) => pico / PICO_PER_USD),
  /** Beyond what is known. */
  more_usd: fc.option(
    fc.oneof(fc.nat(10_000_000), fc.integer({ min: 0, max: 20e12 })).map((pico) => pico / PICO_PER_USD),
    { nil: undefined },
  ),
  more_tokens: fc.option(fc.nat(10_000), { nil: undefined }),
  thread_id: fc.constantFrom(undefined, undefined, 't1', 't2'),
  /** Whether the store refuses it. */
  isBad: fc.oneof({ weight: 19, arbitrary: fc.constant(false) }, fc.constant(true)),
});
type RandomTrace = typeof trace extends fc.Arbitrary<infer T> ? T : never;

const measureQuery: fc.Arbitrary<MeasureQuery> = fc
  .record({
    provider: rarely('openai', 'nobody'),
    model: rarely('small', 'nothing'),
    tenant: rarely(...TENANTS),
    groupBy: fc.constantFrom(undefined, ...GROUPS),
    bucket: fc.constantFrom(undefined, ...BUCKETS),
    parts: fc.constantFrom(
      undefined,
      MEASURE_PARTS.filter((part) => part !== 'percentiles'),
    ),
  })
  .chain((query) => range.map((within) => ({ ...query, ...within })));

const listQuery: fc.Arbitrary<TraceQuery> = fc
  .record({
    provider: rarely('openai', 'nobody'),
    model: rarely('small', 'nothing'),
    tenant: rarely(...TENANTS),
    api_key_hash: rarely(hexOf(HASHES[1]), 'ab'.repeat(32), 'nonsense'),
    thread_id: rarely('t1', 't3'),
    status: rarely(200, 404, 503),
    usage_status: rarely(...USAGE_STATUSES),
    cost_status: rarely(...COST_STATUSES),
    min_tokens: rarely(5, 100, 1_000_000),
    max_tokens: rarely(5, 100, 9_000_000),
    limit: fc.integer({ min: 1, max: 12 }),
  })
  .chain((query) => range.map((within) => ({ ...query, ...within })));

let seed = 0;
const createId = createTraceIds((count) => new Uint8Array(count).fill((seed += 1)));

function recordOf({ skew, isBad, thread_id, more_usd, more_tokens, ...of }: RandomTrace): TraceRecord {
  const created_at = of.timestamp + of.latency_ms + skew;
  return {
    ...of,
    cost_upper_usd: more_usd === undefined ? undefined : exactSum([of.estimated_cost_usd, more_usd]),
    upper_tokens: more_tokens === undefined ? undefined : of.total_tokens + more_tokens,
    id: createId(created_at),
    created_at,
    request_method: 'POST',
    request_path: '/openai/v1/responses',
    lineage: thread_id === undefined ? {} : { thread_id },
    request_headers: '',
    response_headers: '',
    request_body: undefined,
    response_body: undefined,
    metadata: '{}',
    ...(isBad ? { latency_ms: null! } : {}),
  };
}

const isOf = (record: TraceRecord, tenant: TraceQuery['tenant']) => {
  const { org_id, workspace_id } = record.scope;
  return tenant === undefined || (tenant.org_id === org_id && tenant.workspace_id === workspace_id);
};
const isIn = (record: TraceRecord, of: Pick<TraceQuery, 'from' | 'to' | 'provider' | 'model' | 'tenant'>) =>
  record.timestamp >= (of.from ?? 0) &&
  record.timestamp <= (of.to ?? Number.POSITIVE_INFINITY) &&
  record.provider === (of.provider ?? record.provider) &&
  isOf(record, of.tenant);
const isModel = (name: string, wanted: string | undefined) => name === (wanted ?? name);
const servedBy = ({ response_model, model }: TraceRecord) => response_model ?? model;
const upperOf = ({ cost_upper_usd, estimated_cost_usd }: TraceRecord) => cost_upper_usd ?? estimated_cost_usd;

/** Doubles of whole trillionths, summed as such. */
function exactSum(prices: readonly number[]): number {
  return prices.reduce((sum, usd) => sum + Math.round(usd * PICO_PER_USD), 0) / PICO_PER_USD;
}

function groupOf(record: TraceRecord, groupBy: MeasureQuery['groupBy']): string {
  if (groupBy === undefined) return '';
  if (groupBy === 'route') return record.provider === 'unknown' ? '/other' : `/${record.provider}/*`;
  if (groupBy === 'key') return record.scope.gateway_key_id;
  if (groupBy === 'model') return servedBy(record);
  return groupBy === 'api_key_hash' ? hexOf(record.api_key_hash) : record[groupBy];
}

/** The expected measures, without percentiles. */
function scanned(records: readonly TraceRecord[], query: MeasureQuery) {
  const kept = records.filter((record) => isIn(record, query) && isModel(servedBy(record), query.model));
  const groups = Map.groupBy(kept, (record) => {
    const start = query.bucket === undefined ? 0 : bucketStartOf(record.timestamp, query.bucket);
    return JSON.stringify([String(start).padStart(15), groupOf(record, query.groupBy)]);
  });
  return [...groups]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, of]) => {
      const [start, group] = JSON.parse(key) as [string, string];
      const sum = (value: (record: TraceRecord) => number) => of.reduce((total, record) => total + value(record), 0);
      const errors = (from: number, to: number) => sum(({ response_status: at }) => (at >= from && at <= to ? 1 : 0));
      return {
        latencies: of.map(({ latency_ms: latency }) => latency).toSorted((left, right) => left - right),
        sums: {
          bucketStart: Number(start),
          group,
          requests: of.length,
          rejected: sum(({ outcome }) => Number(outcome === 'rejected')),
          unpriced: sum(({ cost_status }) => Number(cost_status === 'unpriced')),
          estimated: sum(({ cost_status }) => Number(cost_status === 'estimated')),
          missingUsage: sum(({ cost_status, usage_status }) =>
            Number(cost_status !== 'free' && ['missing', 'undecodable'].includes(usage_status)),
          ),
          errors4xx: errors(400, 499),
          errors5xx: errors(500, 599),
          inputTokens: sum((record) => record.input_tokens),
          outputTokens: sum((record) => record.output_tokens),
          totalTokens: sum((record) => record.total_tokens),
          costUsd: exactSum(of.map((record) => record.estimated_cost_usd)),
          upperUsd: exactSum(of.map(upperOf)),
          latencyMs: sum((record) => record.latency_ms),
          latencyMsMin: Math.min(...of.map((record) => record.latency_ms)),
          latencyMsMax: Math.max(...of.map((record) => record.latency_ms)),
          streams: of.filter((record) => record.time_to_first_token_us > 0).length,
          firstTokenUs: sum((record) => record.time_to_first_token_us),
          lastActive: Math.max(...of.map((record) => record.timestamp)),
        },
      };
    });
}

function expectMeasures(found: readonly Measure[], records: readonly TraceRecord[], query: MeasureQuery): void {
  const expected = scanned(records, query);
  const sums = found.map(({ cost, upper, ...rest }) => ({
    ...rest,
    costUsd: usdOf(cost.thousands, cost.pico),
    upperUsd: usdOf(upper.thousands, upper.pico),
  }));
  const percentiles = { p50Ms: expect.any(Number), p95Ms: expect.any(Number), p99Ms: expect.any(Number) };
  expect(sums).toEqual(expected.map((one) => ({ ...one.sums, ...percentiles })));
  if (!needsPercentiles(query)) return;
  for (const [i, { latencies }] of expected.entries()) {
    for (const [share, percentile] of [
      [0.5, found[i]?.p50Ms],
      [0.95, found[i]?.p95Ms],
      [0.99, found[i]?.p99Ms],
    ] as const) {
      const exact = latencies[Math.max(1, Math.ceil(share * latencies.length)) - 1] ?? 0;
      expect(Math.abs((percentile ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.01);
    }
  }
}

async function expectList({ store }: ContractStore, records: readonly TraceRecord[], query: TraceQuery): Promise<void> {
  const expected = records
    .filter(
      (record) =>
        isIn(record, query) &&
        isModel(record.model, query.model) &&
        hexOf(record.api_key_hash) === (query.api_key_hash ?? hexOf(record.api_key_hash)) &&
        record.lineage.thread_id === (query.thread_id ?? record.lineage.thread_id) &&
        record.response_status === (query.status ?? record.response_status) &&
        record.usage_status === (query.usage_status ?? record.usage_status) &&
        record.cost_status === (query.cost_status ?? record.cost_status) &&
        record.total_tokens >= (query.min_tokens ?? 0) &&
        record.total_tokens <= (query.max_tokens ?? Number.POSITIVE_INFINITY),
    )
    .map(({ id }) => hexOf(id))
    .toSorted()
    .toReversed();
  const found: string[] = [];
  let after: Uint8Array | undefined;
  do {
    const { items, next_cursor: next } = await store.list({ ...query, after });
    found.push(...items.map(({ id }) => id));
    after = next === undefined ? undefined : readCursor(next);
  } while (after !== undefined);
  expect(found).toEqual(expected);
}

function usageOf(usages: readonly DayUsage[]): Record<string, number[]> {
  const sums: Record<string, number[]> = {};
  for (const { day, org_id, workspace_id, gateway_key_id, ...used } of usages) {
    const key = [day, org_id, workspace_id, gateway_key_id].join();
    const [count = 0, tokens = 0, estimated = 0, cost = 0, upper = 0] = sums[key] ?? [];
    sums[key] = [
      count + used.requests,
      tokens + used.total_tokens,
      estimated + used.estimated_tokens,
      exactSum([cost, used.cost_usd]),
      exactSum([upper, used.cost_upper_usd]),
    ];
  }
  return sums;
}

async function expectUsage({ store }: ContractStore, records: readonly TraceRecord[]): Promise<void> {
  const expected = records.map((record) => {
    const { created_at, scope, total_tokens, upper_tokens = total_tokens, estimated_cost_usd: cost_usd } = record;
    const day = new Date(created_at).toISOString().slice(0, 10);
    const estimated_tokens = upper_tokens - (record.usage_status === 'estimated' ? 0 : total_tokens);
    return {
      ...scope,
      day,
      requests: 1,
      total_tokens: upper_tokens,
      estimated_tokens,
      cost_usd,
      cost_upper_usd: upperOf(record),
    };
  });
  const days = new Set(expected.map(({ day }) => day));
  const kept = (await Promise.all([...days].map((day) => store.quotaTotals(day)))).flat();
  expect(usageOf(kept)).toEqual(usageOf(expected));
  // One entry per key, for any roles.
  expect(kept).toHaveLength(Object.keys(usageOf(expected)).length);
}

async function expectMeasured({ store }: ContractStore, kept: readonly TraceRecord[], query: MeasureQuery): Promise<void> {
  expectMeasures(await store.measure(query), kept, query);
}

/** For any traces in any batches, every result equals a plain scan of the stored traces. `open` opens an empty store, in one of `variants` ways. */
export function testAgainstScan(open: (variant: number) => Promise<ContractStore>, variants: number, numRuns: number): void {
  const run = async (batches: RandomTrace[][], queries: MeasureQuery[], lists: TraceQuery[], variant: number) => {
    await using opened = await open(variant);
    const { store } = opened;
    const kept: TraceRecord[] = [];
    for (const [i, batch] of batches.entries()) {
      const records = batch.map(recordOf);
      const results = await write(opened, ...records);
      kept.push(...records.filter((_, at) => batch[at]?.isBad === false));
      expect(results.map((result) => result === 'written')).toEqual(batch.map(({ isBad }) => !isBad));
      // A reader may cache data that changes between two queries.
      const [query] = i % 2 === 1 ? queries : [];
      if (query !== undefined) await expectMeasured(opened, kept, query);
      // Later batches have traces of hours that were already summed.
      if (i % 2 === 0) await store.removeOlderThan(0, 0);
    }
    for (const query of queries) await expectMeasured(opened, kept, query);
    await store.removeOlderThan(0, 0);
    for (const query of queries) await expectMeasured(opened, kept, query);
    for (const query of lists) await expectList(opened, kept, query);
    await expectUsage(opened, kept);
  };
  test('every result equals a plain scan of the traces that were written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(trace, { maxLength: 25 }), { maxLength: 6 }),
        fc.array(measureQuery, { minLength: 10, maxLength: 10 }),
        fc.array(listQuery, { minLength: 10, maxLength: 10 }),
        fc.nat(variants - 1),
        run,
      ),
      { numRuns, endOnFailure: true },
    );
  });
}
