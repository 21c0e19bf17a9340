import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startTestStoreApi, type TestStoreApi } from '../testing/start-test-store-api.ts';

const GOLDEN = new URL('../../../../deploy/observability/metrics/store-api.txt', import.meta.url);
const SCRAPED = {
  STORE_API_OBSERVABILITY_OTEL_PROMETHEUS_ENABLED: 'true',
  STORE_API_OBSERVABILITY_OTEL_PROMETHEUS_PUBLIC: 'true',
};
/** Metrics of the relay, which runs only with configured brokers, are in the scanner's golden file. */
const OURS = /^svc_(?:store_api|postgres|retention)_/;

test('deploy/observability lists the metrics and labels of the store API; npm run golden rewrites them', async () => {
  await using api = await startTestStoreApi(SCRAPED);
  await api.request('/v1/health');
  const all = parseScrape((await api.request('/metrics')).text, 'classic').flatMap((family) => family.samples);
  const labels = new Map<string, Set<string>>();
  for (const { name, labels: of } of all.filter((sample) => OURS.test(sample.name)))
    labels.set(name, new Set([...(labels.get(name) ?? []), ...Object.keys(of)]));
  const lines = [...labels].map(([name, of]) => [name, ...[...of].toSorted()].join(' '));
  const text = `${lines.toSorted().join('\n')}\n`;
  expect(text).toBe(goldenText(GOLDEN, text));
});

async function valueOf(api: TestStoreApi, name: string, wanted: Readonly<Record<string, string>>): Promise<number | undefined> {
  const families = parseScrape((await api.request('/metrics')).text, 'classic');
  const found = families
    .flatMap((family) => family.samples)
    .find((sample) => sample.name === name && Object.entries(wanted).every(([label, value]) => sample.labels[label] === value));
  return found?.value;
}

test('requests, billed units and rejections are counted, each from 0', async () => {
  await using api = await startTestStoreApi(SCRAPED);
  await api.addDemoStore();
  const ok = { operation: 'getStore', status: '200' };
  const rejected = { operation: 'getStore', status: '401', code: 'unauthorized' };
  const read = async () => [
    await valueOf(api, 'svc_store_api_request_total', ok),
    await valueOf(api, 'svc_store_api_request_total', rejected),
    await valueOf(api, 'svc_store_api_units_billed_total', { unit: 'lookup_cached' }),
    await valueOf(api, 'svc_store_api_rejection_total', { reason: 'missing_key' }),
  ];
  expect(await read()).toEqual([0, 0, 0, 0]);
  const { token } = await api.addKey();
  await api.request('/v1/stores/example.com', { token });
  await api.request('/v1/stores/example.com');
  expect(await read()).toEqual([1, 1, 1, 1]);
});

test('two batches are read at a time, one of each workspace, and waiting ones are counted', async () => {
  await using api = await startTestStoreApi(SCRAPED);
  const keys = [await api.addKey({ plan: 'growth' }), await api.addKey({ plan: 'growth' }), await api.addKey({ plan: 'growth' })];
  const batches = await api.database.owner.transaction(async (transaction) => {
    await transaction.query('LOCK TABLE stores');
    const body = { domains: ['example.com'] };
    const started = [...keys, ...keys].map(({ token }) => api.request('/v1/stores/enrich', { method: 'POST', token, body }));
    const ofPool = () => valueOf(api, 'svc_postgres_waiting', { pool: 'batches' });
    const ofWorkspaces = () => valueOf(api, 'svc_store_api_bound_waiting', { bound: 'batches' });
    const areWaiting = async () => (await ofPool()) === 1 && (await ofWorkspaces()) === 3;
    await waitUntil(areWaiting, { what: 'four of six batches that wait' });
    return started;
  });
  // Does not check their responses, because on a slow machine they may have timed out.
  await Promise.all(batches);
  expect(await valueOf(api, 'svc_postgres_waiting', { pool: 'batches' })).toBe(0);
});
