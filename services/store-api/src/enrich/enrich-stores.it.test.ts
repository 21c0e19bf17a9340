import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO_FACTS } from '@vitrine/stores/demo/demo-store';
import { openTcpProxy } from '@vitrine/postgres/testing/tcp-proxy';
import { denyDomain } from '@vitrine/stores/corpus/denylist';
import { finishScanJob } from '@vitrine/stores/scans/finish-scan-job';
import { queueScans } from '@vitrine/stores/scans/queue-scans';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { reconcileUsage } from '@vitrine/stores/metering/usage-reports';
import { enrichResponse, type EnrichResponse } from '@vitrine/stores/resources/enrichment';
import { addStores } from '../testing/add-stores.ts';
import { startTestStoreApi, type TestApiKey, type TestStoreApi } from '../testing/start-test-store-api.ts';
import { VOCABULARY } from '@vitrine/registry/vocabulary';

let api: TestStoreApi;
let key: TestApiKey;
const FULL = ['read:stores', 'write:scans'];
beforeAll(async () => {
  api = await startTestStoreApi();
  await importVocabulary(api.database.as('vitrine_store_api'), VOCABULARY);
  await addStores(api.database.owner, {
    matched: ['fresh.com', 'other.com', ...Array.from({ length: 40 }, (_, n) => `shop-${n}.com`)],
    stale: ['stale.com'],
    not_ecommerce: ['blog.com'],
    not_in_corpus: ['known.com'],
    blocked: ['denied.com'],
  });
});
afterAll(async () => api[Symbol.asyncDispose]());
beforeEach(async () => {
  key = await api.addKey({ plan: 'pro', scopes: FULL });
});

interface Options {
  readonly refresh?: boolean;
  readonly idempotencyKey?: string;
  readonly token?: string;
}
function enrich(domains: unknown, { refresh, idempotencyKey, token = key.token }: Options = {}) {
  const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  return api.request('/v1/stores/enrich', {
    method: 'POST',
    token,
    headers,
    body: { domains, ...(refresh !== undefined && { refresh }) },
  });
}
async function enriched(domains: readonly string[], options?: Options): Promise<EnrichResponse> {
  const response = await enrich(domains, options);
  expect([response.status, response.text.slice(0, 200)]).toEqual([200, expect.stringContaining('"results"')]);
  return enrichResponse.parse(response.json);
}
const ledgerOf = async ({ workspace_id }: TestApiKey = key) =>
  (
    await api.database.owner.query<{ domain: string; unit: string }>(
      'SELECT domain, unit FROM ledger WHERE workspace_id = $1 ORDER BY unit, domain',
      [workspace_id],
    )
  ).map(({ domain, unit }) => `${unit} ${domain}`);
const errorOf = ({ json }: { json: Readonly<Record<string, unknown>> }) => json['error'];
const jobOf = async (domain: string) =>
  (await api.database.owner.query<{ id: string }>('SELECT id FROM scan_jobs WHERE domain = $1', [domain])).map(({ id }) => id);

test('each input has its own result, in input order; inputs of the same store are billed once', async () => {
  const inputs = [
    'fresh.com',
    'nobody.com',
    'https://WWW.Fresh.com/cart',
    'stale.com',
    'blog.com',
    'denied.com',
    'known.com',
    'localhost',
    'fresh.com',
  ];
  const { results, billed, request_id } = await enriched(inputs);
  expect(results.map(({ input, match, reason }) => `${input}: ${match} ${reason}`)).toEqual([
    'fresh.com: matched null',
    'nobody.com: no_match not_in_corpus',
    'https://WWW.Fresh.com/cart: matched null',
    'stale.com: stale null',
    'blog.com: no_match not_ecommerce',
    'denied.com: no_match blocked',
    'known.com: no_match not_in_corpus',
    'localhost: no_match invalid_domain',
    'fresh.com: matched null',
  ]);
  expect(results.map(({ store }) => store?.domain)).toEqual([
    'fresh.com',
    undefined,
    'fresh.com',
    'stale.com',
    undefined,
    undefined,
    undefined,
    undefined,
    'fresh.com',
  ]);
  expect(results[0]?.store?.technologies.length).toBe(DEMO_FACTS.technologies.length);
  expect(results.some(({ scan_requested }) => scan_requested)).toBe(false);
  expect(billed).toEqual({ lookup_cached: 2, lookup_live: 0 });
  expect(await ledgerOf()).toEqual(['lookup_cached fresh.com', 'lookup_cached stale.com']);
  expect(request_id).toMatch(/^req_/);
});

test('headers have the remaining units, and X-Request-Id equals the request_id of the body', async () => {
  const response = await enrich(['fresh.com', 'other.com']);
  expect(response.headers.get('x-usage-remaining')).toBe('2498');
  expect(response.headers.get('x-request-id')).toBe(response.json['request_id']);
  expect(response.headers.get('x-ratelimit-remaining')).toBe('119');
});

test('a batch without a match is free', async () => {
  expect((await enriched(['nobody.com', 'blog.com', '1.2.3.4'])).billed).toEqual({ lookup_cached: 0, lookup_live: 0 });
  expect(await ledgerOf()).toEqual([]);
});

describe('refresh', () => {
  test('queues one scan of each stale or unknown domain, and bills it when queued', async () => {
    const { results, billed } = await enriched(
      ['fresh.com', 'stale.com', 'new-1.com', 'www.new-1.com', 'blog.com', 'denied.com', 'known.com', '10.0.0.1'],
      { refresh: true },
    );
    const [job] = await jobOf('new-1.com');
    expect(results.map(({ input, scan_requested, scan_job_id }) => [input, scan_requested, scan_job_id !== null])).toEqual([
      ['fresh.com', false, false],
      ['stale.com', true, true],
      ['new-1.com', true, true],
      ['www.new-1.com', true, true],
      ['blog.com', false, false],
      ['denied.com', false, false],
      ['known.com', true, true],
      ['10.0.0.1', false, false],
    ]);
    expect([results[2]?.scan_job_id, results[3]?.scan_job_id]).toEqual([job, job]);
    expect(results[1]?.store?.domain).toBe('stale.com');
    expect(billed).toEqual({ lookup_cached: 2, lookup_live: 3 });
    expect(await ledgerOf()).toEqual([
      'lookup_cached fresh.com',
      'lookup_cached stale.com',
      'lookup_live known.com',
      'lookup_live new-1.com',
      'lookup_live stale.com',
    ]);
    const messages = await api.database.owner.query(`SELECT payload FROM outbox WHERE key = 'new-1.com'`);
    expect(messages.map(({ payload }) => JSON.parse(String(payload)) as unknown)).toEqual([
      { scan_job_id: job, domain: 'new-1.com' },
    ]);
  });

  test('returns the job of a domain that is being scanned, for free', async () => {
    await enriched(['new-2.com'], { refresh: true });
    const other = await api.addKey({ plan: 'pro', scopes: FULL });
    const { results, billed } = await enriched(['new-2.com'], { refresh: true, token: other.token });
    expect(results).toMatchObject([{ scan_requested: true, scan_job_id: (await jobOf('new-2.com'))[0] }]);
    expect(billed).toEqual({ lookup_cached: 0, lookup_live: 0 });
    expect(await ledgerOf(other)).toEqual([]);
    // Without refresh the result has no scan.
    expect((await enriched(['new-2.com'])).results).toMatchObject([{ scan_requested: false, scan_job_id: null }]);
  });

  test('needs the scope write:scans', async () => {
    const reader = await api.addKey({ scopes: ['read:stores'] });
    const response = await enrich(['new-3.com'], { refresh: true, token: reader.token });
    expect([response.status, errorOf(response)]).toMatchObject([403, { code: 'forbidden_scope' }]);
    expect((await enrich(['new-3.com'], { refresh: false, token: reader.token })).status).toBe(200);
    expect(await jobOf('new-3.com')).toEqual([]);
  });

  test('is refused completely, scans and lookups, by a plan without live refreshes, unless it needs none', async () => {
    const free = await api.addKey({ plan: 'free', scopes: FULL });
    const response = await enrich(['fresh.com', 'new-4.com'], { refresh: true, token: free.token });
    expect([response.status, errorOf(response)]).toEqual([
      402,
      {
        code: 'payment_required',
        message: expect.stringContaining('plan free has no live refreshes'),
        request_id: expect.any(String),
      },
    ]);
    expect([await ledgerOf(free), await jobOf('new-4.com')]).toEqual([[], []]);
    expect((await enriched(['fresh.com'], { refresh: true, token: free.token })).billed).toEqual({
      lookup_cached: 1,
      lookup_live: 0,
    });
  });
});

describe('a scan that was blocked or failed', () => {
  /** Ends the open job of a domain like a scanner. */
  const end = async (domain: string, status: 'blocked' | 'failed', ago = '0 s') => {
    const [job = ''] = await jobOf(domain);
    await api.database.owner.transaction((transaction) =>
      finishScanJob(transaction, { id: job, status, error: 'challenged: the page of DataDome' }),
    );
    await api.database.owner.execute('UPDATE scan_jobs SET finished_at = now() - $2::interval WHERE id = $1', [job, ago]);
    return job;
  };

  test.each(['blocked', 'failed'] as const)(
    'is the last_attempt, and %s is not billed a second time within the hour',
    async (state) => {
      const domain = `hard-${state}.com`;
      expect((await enriched([domain], { refresh: true })).results).toMatchObject([{ last_attempt: null, scan_requested: true }]);
      const job = await end(domain, state);
      const { results, billed } = await enriched([domain], { refresh: true });
      const last_attempt = { state, reason: 'challenged', finished_at: expect.any(String) };
      expect(results).toMatchObject([{ last_attempt, scan_requested: false, scan_job_id: job }]);
      expect(billed).toEqual({ lookup_cached: 0, lookup_live: 0 });
      expect(await ledgerOf()).toEqual([`lookup_live ${domain}`]);
      expect(await jobOf(domain)).toEqual([job]);
      // Without refresh the result has no scan, but the failed attempt.
      expect((await enriched([domain])).results).toMatchObject([{ last_attempt, scan_requested: false, scan_job_id: null }]);
    },
  );

  test('is queued again and billed after an hour', async () => {
    await enriched(['later.com'], { refresh: true });
    const job = await end('later.com', 'failed', '61 min');
    const { results, billed } = await enriched(['later.com'], { refresh: true });
    expect(results).toMatchObject([{ scan_requested: true, last_attempt: { state: 'failed' } }]);
    expect([results[0]?.scan_job_id === job, billed.lookup_live]).toEqual([false, 1]);
  });

  test('does not hide a scan that was queued later', async () => {
    await enriched(['again.com'], { refresh: true });
    await end('again.com', 'failed');
    await api.database.owner.transaction((transaction) =>
      queueScans(transaction, { domains: ['again.com'], cause: 'routine', createId: () => 'job_routine' }),
    );
    const { results, billed } = await enriched(['again.com'], { refresh: true });
    expect(results).toMatchObject([{ scan_requested: true, scan_job_id: 'job_routine' }]);
    expect(billed.lookup_live).toBe(0);
  });

  test('is not shown of a domain on the denylist', async () => {
    await enriched(['asked.com'], { refresh: true });
    await end('asked.com', 'failed');
    await denyDomain(api.database.owner, 'asked.com', 'asked for it');
    expect((await enriched(['asked.com'])).results).toMatchObject([{ reason: 'blocked', last_attempt: null }]);
  });
});

test('a batch beyond the allowance is refused completely, with the time of the reset; one that fits is not', async () => {
  const free = await api.addKey({ plan: 'free' });
  const shops = (from: number, count: number) => Array.from({ length: count }, (_, n) => `shop-${from + n}.com`);
  await enriched(shops(0, 20), { token: free.token });
  const response = await enrich(shops(20, 6), { token: free.token });
  const { period } = (await api.request('/v1/account', { token: free.token })).json as { period: { ends_at: string } };
  expect([response.status, errorOf(response)]).toMatchObject([402, { code: 'payment_required', reset_at: period.ends_at }]);
  expect(await ledgerOf(free)).toHaveLength(20);
  expect((await enriched(shops(20, 5), { token: free.token })).billed.lookup_cached).toBe(5);
  expect((await enrich(['fresh.com'], { token: free.token })).status).toBe(402);
  expect((await enriched(['nobody.com'], { token: free.token })).billed.lookup_cached).toBe(0);
});

test.each([
  ['no domains', [], 'domains'],
  ['101 domains', Array.from({ length: 101 }, (_, n) => `shop-${n}.com`), 'domains'],
  ['an item that is too short', ['fresh.com', 'ab'], 'domains[1]'],
  ['an item that is too long', ['fresh.com', 'other.com', `${'a'.repeat(250)}.com`], 'domains[2]'],
  ['an item that is no text', ['fresh.com', 7], 'domains[1]'],
  ['no array', 'fresh.com', 'domains'],
])('%s is invalid_request and names the field', async (_, domains, field) => {
  const response = await enrich(domains);
  const { message } = errorOf(response) as { message: string };
  expect([response.status, message.startsWith(`${field} `)]).toEqual([400, true]);
  expect(await ledgerOf()).toEqual([]);
});

test('a batch has at most as many domains as the plan allows', async () => {
  const free = await api.addKey({ plan: 'free' });
  const nobodies = (count: number) => Array.from({ length: count }, (_, n) => `nobody-${n}.com`);
  expect((await enrich(nobodies(25), { token: free.token })).status).toBe(200);
  const response = await enrich(nobodies(26), { token: free.token });
  expect([response.status, errorOf(response)]).toMatchObject([400, { message: expect.stringContaining('domains has 26') }]);
});

describe('an Idempotency-Key', () => {
  test('replays the identical response with its id, and bills nothing', async () => {
    const options = { idempotencyKey: 'run-1-batch-1', refresh: true };
    const first = await enrich(['fresh.com', 'new-5.com'], options);
    const replay = await enrich(['fresh.com', 'new-5.com'], options);
    expect(replay.text).toBe(first.text);
    expect([first, replay].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(replay.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'));
    expect(await ledgerOf()).toEqual(['lookup_cached fresh.com', 'lookup_live new-5.com']);
  });

  test('accepts only the same body, after defaults', async () => {
    await enriched(['fresh.com'], { idempotencyKey: 'run-1-batch-2' });
    expect(
      (await enrich(['fresh.com'], { idempotencyKey: 'run-1-batch-2', refresh: false })).headers.get('idempotent-replayed'),
    ).toBe('true');
    const other = await enrich(['other.com'], { idempotencyKey: 'run-1-batch-2' });
    expect([other.status, errorOf(other)]).toMatchObject([409, { code: 'conflict' }]);
    expect((await enrich(['fresh.com'], { idempotencyKey: 'short' })).status).toBe(400);
  });

  test('does not show a domain put on the denylist since: the request is processed again, unbilled, and queues nothing', async () => {
    const domains = ['shop-38.com', 'moved-in.com', 'shop-39.com', 'new-6.com'];
    await api.database.owner.execute(
      `INSERT INTO stores (storefront_id, domain, storefront_host, state, state_as_of, is_ecommerce, last_completed_scan_at, moved_to, profile, profile_hash)
       SELECT 'sf_in', 'moved-in.com', storefront_host, state, state_as_of, true, last_completed_scan_at, storefront_id, profile, profile_hash
       FROM stores WHERE domain = 'shop-37.com'`,
    );
    const options = { idempotencyKey: 'run-1-denied', refresh: true };
    const first = await enrich(domains, options);
    expect((await enrich(domains, options)).text).toBe(first.text);
    const before = await ledgerOf();
    await denyDomain(api.database.owner, 'shop-38.com', 'asked for it');
    await denyDomain(api.database.owner, 'shop-37.com', 'asked for it');
    const replay = await enrich(domains, options);
    const { request_id, results, billed } = enrichResponse.parse(replay.json);
    expect(results.map(({ input, match, reason, store }) => `${input}: ${match} ${reason} ${store?.domain}`)).toEqual([
      'shop-38.com: no_match blocked undefined',
      'moved-in.com: no_match blocked undefined',
      'shop-39.com: matched null shop-39.com',
      'new-6.com: no_match not_in_corpus undefined',
    ]);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect([replay.headers.get('x-request-id'), request_id === first.json['request_id']]).toEqual([request_id, false]);
    expect(billed).toEqual({ lookup_cached: 0, lookup_live: 0 });
    expect([await ledgerOf(), await jobOf('new-6.com')]).toEqual([before, [expect.any(String)]]);
    const path = '/v1/stores/shop-36.com';
    const read = () => api.request(path, { token: key.token, headers: { 'Idempotency-Key': 'run-1-denied-2' } });
    expect((await read()).status).toBe(200);
    await denyDomain(api.database.owner, 'shop-36.com', 'asked for it');
    const denied = await read();
    expect([denied.status, denied.headers.get('idempotent-replayed'), errorOf(denied)]).toMatchObject([
      404,
      'true',
      { code: 'not_found' },
    ]);
  });

  test('from many clients at once counts as one request', async () => {
    // A plan that allows more requests in flight than there are clients.
    key = await api.addKey({ plan: 'growth' });
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => enrich(['fresh.com', 'other.com'], { idempotencyKey: 'run-1-batch-3' })),
    );
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await ledgerOf()).toHaveLength(2);
  });
});

test('counters and ledger agree after all of this', async () => {
  expect(await reconcileUsage(api.database.as('vitrine_store_api'))).toEqual([]);
});

test.each([
  ['a connection is lost gets what it was billed for', false],
  ['the database is lost for good is told how to find out', true],
] as const)('a client of whose batch %s', async (_, isLast) => {
  await using proxy = await openTcpProxy(api.database.dsnOf('vitrine_store_api'));
  await using other = await startTestStoreApi({ STORE_API_STORAGE_DSN: proxy.dsn.reveal() }, api.database);
  proxy.cutAt('charge_usage', 'response', isLast);
  const body = { domains: ['fresh.com'] };
  const response = await other.request('/v1/stores/enrich', { method: 'POST', token: key.token, body });
  expect(await ledgerOf()).toEqual(['lookup_cached fresh.com']);
  const message: unknown = expect.stringMatching(/may have been billed: GET \/v1\/usage/);
  if (isLast) expect([response.status, errorOf(response)]).toEqual([500, expect.objectContaining({ code: 'internal', message })]);
  else expect([response.status, response.json['billed']]).toEqual([200, { lookup_cached: 1, lookup_live: 0 }]);
  expect(await reconcileUsage(api.database.owner)).toEqual([]);
});
