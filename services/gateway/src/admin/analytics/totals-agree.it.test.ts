import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseScrape, type ScrapeFamily } from '@vitrine/testkit/parse-scrape';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import { createLogger } from '@vitrine/telemetry/logger';
import { ExchangeBatch } from '@vitrine/trace-derivation/exchange-batch';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { bucketStartOf, BUCKETS, DAY_MS, HOUR_MS, type Bucket } from '@vitrine/traces/time-buckets';
import type { TraceSummary } from '@vitrine/traces/trace';
import { TraceAnalytics } from '@vitrine/traces/trace-analytics';
import { BREAKDOWN_GROUPS, routeOf, SERIES_GROUPS, type Group } from '@vitrine/traces/trace-measures';
import { readCursor, type TraceQuery } from '@vitrine/traces/trace-store';
import { COST_STATUSES, USAGE_STATUSES } from '@vitrine/traces/trace-values';
import { usdJson } from '@vitrine/traces/usd';
import fc from 'fast-check';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openTraces, type OfflineTraces } from '../../cli/offline-traces/open-traces.ts';
import { readReport } from '../../cli/report/usage-report.ts';
import { readGatewayConfig } from '../../config.ts';
import { privacyRules } from '../../proxy/privacy/pii-config.ts';
import { openTraceStore } from '../../recording/open-trace-store.ts';
import type { OpenedTraces } from '../../recording/opened-traces.ts';
import { anyExchange, DAYS, FIRST_DAY, TENANTS } from '../../testing/random-exchanges.ts';
import { openObservability, type Observability } from '../../telemetry/open-observability.ts';
import { openTestStorage } from '../../testing/test-storage.ts';
import { exactJson, expectedRow, isMissing, picoOf, type Row } from './testing/trace-figures.ts';

// Lists, analytics, the report, the usage of keys and metrics say the same of any exchanges, to the trillionth of a dollar. Spec: G7.19, G7.20, G14.35.

const EXCHANGES = propertyRuns(100_000);
const BATCH = 256;
/** So that usage is reported. */
const DAILY_LIMIT = 'auth: {enabled: true}\nlimits: {per_key: {max_cost_usd_per_day: 1}}';

interface ListedTrace extends TraceSummary {
  /** Of those that were read one by one: the model that served, and the gateway key. */
  readonly served?: string;
  readonly key?: string | undefined;
}
type Query = Omit<TraceQuery, 'limit' | 'after'>;

const opened = new AsyncDisposableStack();
let traces: OpenedTraces;
let offline: OfflineTraces;
let analytics: TraceAnalytics;
let scrape: () => Promise<ScrapeFamily[]>;
/** Of all exchanges that were written. */
const usage: DayUsage[] = [];

beforeAll(async () => {
  const storage = opened.use(await openTestStorage());
  const variables = { ...storage.variables, SVC_PROMETHEUS_ENABLED: 'true' };
  const config = readGatewayConfig({ path: 'vitrine.yaml', text: DAILY_LIMIT }, variables);
  const logger = createLogger('svc-gateway', 'error', { write: () => undefined });
  traces = opened.use(await openTraceStore(config, privacyRules(config.pii, false), logger, new AbortController().signal));
  analytics = new TraceAnalytics(traces.store);
  const observability = opened.use(await openObservability(config.observability.otel, logger));
  const sink = observability.instrumentSink(traces.thread, traces.store.driver);
  scrape = () => scrapeOf(observability);
  const exchange = anyExchange();
  for (let written = 0; written < EXCHANGES; written += BATCH) {
    const count = Math.min(BATCH, EXCHANGES - written);
    const batch = new ExchangeBatch(count, 0);
    for (const one of fc.sample(exchange, count)) batch.add(one);
    const result = await sink.write(batch);
    expect(result).toMatchObject({ written: count, failures: [] });
    usage.push(...(result.usage ?? []));
  }
  offline = opened.use(await openTraces(config));
});
afterAll(() => opened.disposeAsync());

async function scrapeOf({ scrape }: Observability): Promise<ScrapeFamily[]> {
  await using server = createServer((request, response) => void scrape?.respond(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    headers: { connection: 'close' },
  });
  return parseScrape(await response.text(), 'classic');
}

/** All pages of a list. */
async function listOf(query: Query): Promise<ListedTrace[]> {
  const all: ListedTrace[] = [];
  let after: Uint8Array | undefined;
  do {
    const { items, next_cursor: next } = await traces.store.list({ ...query, limit: 200, after });
    all.push(...items);
    after = next === undefined ? undefined : readCursor(next);
  } while (after !== undefined);
  return all;
}

/** Each row has the figures of the traces that belong to it, and every trace belongs to a row. */
function expectRows(response: object, of: readonly ListedTrace[], group: Group | undefined, bucket?: Bucket): void {
  const { items } = response as { readonly items: readonly Row[] };
  const name = (start: unknown, value: unknown) => JSON.stringify([start, value]);
  const groups = Map.groupBy(of, (trace) => {
    const start = bucket && new Date(bucketStartOf(Date.parse(trace.timestamp), bucket)).toISOString();
    return name(start, group && groupOf(trace, group));
  });
  const names = items.map((row) => name(row['bucket_start'], row['group'] ?? row['model'] ?? row['api_key_hash']));
  expect(names.toSorted()).toEqual([...groups.keys()].toSorted());
  expect(items).toEqual(items.map((row, at) => expectedRow(row, groups.get(names[at] ?? '') ?? [])));
}

function groupOf(trace: ListedTrace, group: Group): string | undefined {
  if (group === 'model') return trace.served;
  if (group === 'key') return trace.key;
  if (group === 'route') return routeOf(trace.provider);
  return trace[group];
}

const hasCredential = ({ api_key_hash: hash }: TraceSummary) => hash !== undefined;

const isIn = <T extends Group>(groups: readonly T[], group: Group): group is T => groups.some((one) => one === group);

/** `groups`: those that the traces show. */
async function expectAnalytics(of: readonly ListedTrace[], query: Query, groups: readonly Group[]): Promise<void> {
  for (const response of [await analytics.usage(query), await analytics.cost(query), await analytics.summary(query)]) {
    const total = exactJson(response);
    expect(total).toEqual(expectedRow(total, of));
  }
  expectRows(exactJson(await analytics.keys(query)), of.filter(hasCredential), 'api_key_hash');
  for (const group_by of [undefined, ...groups.filter((group) => isIn(SERIES_GROUPS, group))]) {
    for (const bucket of BUCKETS) {
      for (const endpoint of ['usage', 'cost'] as const)
        expectRows(exactJson(await analytics[endpoint]({ ...query, group_by, bucket })), of, group_by, bucket);
    }
  }
  for (const group_by of [undefined, ...groups.filter((group) => isIn(BREAKDOWN_GROUPS, group))]) {
    for (const bucket of [undefined, ...BUCKETS]) {
      for (const endpoint of ['latency', 'errors'] as const)
        expectRows(exactJson(await analytics[endpoint]({ ...query, group_by, bucket })), of, group_by, bucket);
    }
  }
}

test('analytics and the report sum up the traces that lists show, in any range, for any tenant', async () => {
  const moment = fc.option(fc.integer({ min: FIRST_DAY, max: FIRST_DAY + DAYS * DAY_MS }), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ one: moment, other: moment, tenant: fc.constantFrom(undefined, ...TENANTS) }),
      fc.constantFrom(undefined, 'openai', 'anthropic'),
      async ({ one, other, tenant }, provider) => {
        const [from, to] = one !== undefined && other !== undefined && one > other ? [other, one] : [one, other];
        const query = { from, to, provider, tenant };
        const of = await listOf(query);
        await expectAnalytics(of, query, ['provider', 'route']);
        const { org_id, workspace_id } = tenant ?? {};
        const asked = { from, to, provider, org_id, workspace_id, limit: 1, now: new Date(), printCost: usdJson };
        const report = exactJson(await readReport(offline, { ...asked, storage: { driver: 'sqlite', path: '' } }));
        expect(report['summary']).toEqual(expectedRow(report['summary'] as Row, of));
        expectRows({ items: report['api_keys'] }, of.filter(hasCredential), 'api_key_hash');
      },
    ),
    { numRuns: 10, endOnFailure: true },
  );
});

test('by model that served and by gateway key, analytics sum up the traces that their pages show', async () => {
  const query = { from: FIRST_DAY + DAY_MS + HOUR_MS / 3, to: FIRST_DAY + DAY_MS + 3.5 * HOUR_MS };
  const of: ListedTrace[] = [];
  for (const trace of await listOf(query)) {
    const { response_model: served, gateway_key_id: key } = (await traces.store.get(trace.id))?.metadata ?? {};
    of.push({ ...trace, served: served ?? trace.model, key: key ?? '' });
  }
  await expectAnalytics(of, query, BREAKDOWN_GROUPS);
  expectRows(exactJson(await analytics.models(query)), of, 'model');
});

test('the usage of keys, as it was reported and as it is stored, has the costs that lists show', async () => {
  const costs = (rows: readonly Pick<DayUsage, 'requests' | 'cost_usd' | 'cost_upper_usd'>[]) => {
    const sum = (value: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + value(row), 0);
    return [sum((row) => row.requests), sum((row) => picoOf(row.cost_usd)), sum((row) => picoOf(row.cost_upper_usd))];
  };
  const days = Map.groupBy(await listOf({}), (trace) => trace.created_at.slice(0, 10));
  for (const [day, of] of days) {
    const shown = costs(
      of.map(({ estimated_cost_usd: cost_usd, cost_upper_usd = Number.NaN }) => ({ requests: 1, cost_usd, cost_upper_usd })),
    );
    expect(costs(await traces.store.quotaTotals(day))).toEqual(shown);
    expect(costs(usage.filter((row) => row.day === day))).toEqual(shown);
  }
});

test('filters of lists find, and the metric of unknown usage counts, what lists show', async () => {
  const all = await listOf({});
  const idsOf = (some: readonly TraceSummary[]) => some.map(({ id }) => id);
  for (const cost_status of COST_STATUSES)
    expect(idsOf(await listOf({ cost_status }))).toEqual(idsOf(all.filter((trace) => trace.cost_status === cost_status)));
  for (const usage_status of USAGE_STATUSES)
    expect(idsOf(await listOf({ usage_status }))).toEqual(idsOf(all.filter((trace) => trace.usage_status === usage_status)));

  const { samples = [] } = (await scrape()).find(({ name }) => name === 'svc_trace_unknown_usage_total') ?? {};
  const shown = samples.map(({ labels: { provider, kind } }) => {
    const of = all.filter((trace) => trace.provider === provider);
    return of.filter((trace) => (kind === 'missing' ? isMissing(trace) : trace.cost_status === kind)).length;
  });
  expect(samples).toHaveLength(6);
  expect(samples.map(({ value }) => value)).toEqual(shown);
});
