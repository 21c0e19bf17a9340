import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { commitDemoStore } from '@vitrine/stores/demo/demo-store';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { finishScanJob } from '@vitrine/stores/scans/finish-scan-job';
import { URLS } from '@vitrine/stores/testing/store-states';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { randomBytes } from 'node:crypto';
import { createSchema } from './graphql-route.ts';
import { executeGraphql } from './execute-graphql.ts';
import { startTestStoreApi, type TestStoreApi } from '../testing/start-test-store-api.ts';

const TOKEN = 'a-service-token-of-32-characters';
const T0 = Date.UTC(2026, 0, 5, 10);

let api: TestStoreApi;
beforeAll(async () => {
  api = await startTestStoreApi({
    STORE_API_GRAPHQL_SERVICE_TOKEN: TOKEN,
    STORE_API_OBSERVABILITY_OTEL_PROMETHEUS_ENABLED: 'true',
    STORE_API_OBSERVABILITY_OTEL_PROMETHEUS_PUBLIC: 'true',
  });
  const isWritten = async () => (await api.database.owner.query('SELECT 1 FROM technologies LIMIT 1')).length > 0;
  await waitUntil(isWritten, { what: 'the vocabulary' });
  await api.database.owner.transaction((transaction) => commitDemoStore(transaction, URLS, T0, randomBytes));
  await api.database.owner.execute(`UPDATE stores SET rank = 7 WHERE domain = 'example.com'`);
});
afterAll(async () => api[Symbol.asyncDispose]());

interface GraphqlError {
  readonly message: string;
  readonly path?: readonly unknown[];
  readonly extensions: { readonly code: string };
}
interface GraphqlResult {
  readonly data?: Record<string, object | null> | null;
  readonly errors?: readonly GraphqlError[];
}

const post = (body: object | string, options: object = {}) =>
  api.request('/graphql', { method: 'POST', token: TOKEN, body, ...options });
const run = async (query: string, variables: object = {}): Promise<GraphqlResult> => {
  const response = await post({ query, variables });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  return response.json;
};
const dataOf = async (query: string, variables?: object): Promise<Record<string, object | null>> => {
  const { data, errors } = await run(query, variables);
  expect(errors).toBeUndefined();
  return data ?? {};
};
const errorOf = async (query: string, variables?: object) => {
  const [error] = (await run(query, variables)).errors ?? [];
  return [error?.extensions.code, error?.message];
};

describe('reading', () => {
  test('a store by any form of its domain: identity, rank, observations, catalog and technology edges', async () => {
    const { store } = await dataOf(`{ store(domain: "https://WWW.example.com/x?y") {
      domain storefrontHost rank state firstObservedAt lastObservedAt
      catalog { productCount availableCount currency priceRange { p25 median p75 } asOf coverage }
      platform { active technology { slug } }
      technologies { active installState confidence firstSeenAt lastSeenAt technology { slug name kind category listingUrl } }
    } }`);
    const at = new Date(T0).toISOString();
    expect(store).toMatchObject({
      domain: 'example.com',
      storefrontHost: 'www.example.com',
      rank: 7,
      state: 'active_storefront',
      firstObservedAt: at,
      lastObservedAt: at,
      catalog: {
        productCount: 184,
        availableCount: 171,
        currency: 'CAD',
        priceRange: { p25: 28, median: 54.5, p75: 119 },
        asOf: at,
        coverage: 'full',
      },
      platform: { active: true, technology: { slug: 'shopify' } },
    });
    const edges = (store as { technologies: { technology: { slug: string } }[] }).technologies;
    expect(edges.map(({ technology }) => technology.slug)).toEqual(edges.map(({ technology }) => technology.slug).toSorted());
    expect(edges.find(({ technology }) => technology.slug === 'triple-whale')).toEqual({
      active: false,
      installState: 'configured',
      confidence: 'low',
      firstSeenAt: at,
      lastSeenAt: at,
      technology: expect.objectContaining({ name: 'Triple Whale', listingUrl: `${URLS.console_url}/technologies/triple-whale` }),
    });
  });

  test('unknown domains, slugs and analyses and denied domains are null, not errors', async () => {
    await api.database.owner.execute(`INSERT INTO domain_denylist (domain, reason) VALUES ('denied.com', 'x')`);
    await api.database.owner.execute(
      `INSERT INTO stores (storefront_id, domain, storefront_host, state, state_as_of, is_ecommerce) VALUES
       ('sf_denied', 'denied.com', 'denied.com', 'candidate', now(), FALSE), ('sf_known', 'known.com', 'known.com', 'candidate', now(), FALSE)`,
    );
    const query = `{ a: store(domain: "unknown.com") { domain } b: store(domain: "localhost") { domain } c: store(domain: "denied.com") { domain }
      d: technology(slug: "no-such") { slug } e: storeAnalysis(id: "ana_x") { id } g: technology(slug: "\\u0000") { slug }
      h: storeAnalysis(id: "\\u0000") { id } f: store(domain: "known.com") { lastObservedAt technologies { active } } }`;
    expect(await dataOf(query)).toEqual({
      a: null,
      b: null,
      c: null,
      d: null,
      e: null,
      g: null,
      h: null,
      f: { lastObservedAt: null, technologies: [] },
    });
  });

  test('a former domain returns the moved storefront', async () => {
    await api.database.owner.execute(
      `INSERT INTO stores (storefront_id, domain, storefront_host, state, state_as_of, is_ecommerce, moved_to)
       SELECT 'sf_left', 'left.com', 'left.com', 'candidate', now(), FALSE, storefront_id FROM stores WHERE domain = 'example.com'`,
    );
    expect(await dataOf('{ store(domain: "left.com") { domain rank } }')).toEqual({ store: { domain: 'example.com', rank: 7 } });
  });

  test('fields of many stores are read with one statement per kind, not per store', async () => {
    const fields = '{ domain technologies { technology { slug vendor } } platform { technology { slug } } }';
    const query = `{ ${Array.from({ length: 20 }, (_, i) => `s${i}: store(domain: "${i % 2 === 0 ? 'example.com' : 'known.com'}") ${fields}`).join(' ')} }`;
    const sent: string[] = [];
    const dsn = api.database.dsnOf('vitrine_store_api');
    await using pool = new PostgresPool({ dsn, applicationName: 'test', beforeStatement: (text) => void sent.push(text) });
    const candidateCursors = { seal: () => '', open: () => undefined };
    const ports = { pool, urls: URLS, candidateCursors, nowMs: () => T0, random: randomBytes };
    const options = { schema: createSchema(), ports, introspection: false };
    const { body, code } = await executeGraphql(options, { query }, new AbortController().signal);
    expect([Object.keys((JSON.parse(body) as { data: object }).data).length, code]).toEqual([20, '']);
    // Stores, platforms and technologies.
    expect(sent).toHaveLength(3);
  });

  test('an analysis shows the store when it is completed', async () => {
    const { analyzeStore } = await dataOf(
      'mutation { analyzeStore(domain: "www.example.com") { id status domain result { domain } error } }',
    );
    const { id } = analyzeStore as { id: string };
    expect(analyzeStore).toEqual({ id, status: 'queued', domain: 'example.com', result: null, error: null });
    const [job] = await api.database.owner.query<{ id: string }>(`SELECT id FROM scan_jobs WHERE domain = 'example.com'`);
    const result = { id: job?.id ?? '', status: 'completed', error: null } as const;
    await api.database.owner.transaction((transaction) => finishScanJob(transaction, result));
    const query = 'query ($id: ID!) { storeAnalysis(id: $id) { status result { domain rank } } }';
    expect(await dataOf(query, { id })).toEqual({
      storeAnalysis: { status: 'completed', result: { domain: 'example.com', rank: 7 } },
    });
  });
});

describe('evidence', () => {
  const INGEST = `mutation ($input: EvidenceInput!, $key: String!) { ingestEvidence(input: $input, idempotencyKey: $key) { id receivedAt candidateIds } }`;
  const CAPTURE = {
    sourceUrl: 'https://vendor.example.com/stories/1',
    capturedAt: '2026-01-05T11:00:00+01:00',
    claims: [
      { domain: 'Shop-One.com', technologySlug: 'klaviyo', claim: 'uses Klaviyo' },
      { claim: 'moved to Shopify', technologySlug: 'shopify' },
    ],
  };

  test('a retry replays the original receipt; other input with the same key is a conflict', async () => {
    const first = await dataOf(INGEST, { input: CAPTURE, key: 'evidence-0001' });
    expect(first).toEqual({
      ingestEvidence: {
        id: expect.stringMatching(/^evd_/),
        receivedAt: expect.stringMatching(/Z$/),
        candidateIds: [expect.stringMatching(/^cnd_/), expect.stringMatching(/^cnd_/)],
      },
    });
    const same = { ...CAPTURE, capturedAt: '2026-01-05T10:00:00Z' };
    expect(await dataOf(INGEST, { input: same, key: 'evidence-0001' })).toEqual(first);
    const other = { ...CAPTURE, sourceUrl: 'https://vendor.example.com/stories/2' };
    expect(await errorOf(INGEST, { input: other, key: 'evidence-0001' })).toEqual([
      'conflict',
      'idempotencyKey was used for other evidence',
    ]);
  });

  test.each<[string, object, string, RegExp]>([
    ['a short key', {}, 'short', /^idempotencyKey must have 8 to 128 characters$/],
    [
      'a domain that is none',
      { claims: [{ claim: 'x' }, { claim: 'x', domain: 'localhost' }] },
      'evidence-bad1',
      /^input\.claims\[1\]\.domain must have a public registrable domain$/,
    ],
    [
      'an unknown technology',
      { claims: [{ claim: 'x', technologySlug: 'no-such' }] },
      'evidence-bad2',
      /^input\.claims\[0\]\.technologySlug is not in the vocabulary$/,
    ],
    ['a time that is none', { capturedAt: 'yesterday' }, 'evidence-bad3', /date-time of RFC 3339/],
    [
      'a capture from the future',
      { capturedAt: '2999-01-01T00:00:00Z' },
      'evidence-bad4',
      /^input\.capturedAt must not be in the future$/,
    ],
    ['a key with U+0000', {}, 'evidence-\0', /^idempotencyKey must be well-formed Unicode without U\+0000$/],
    ['a claim with U+0000', { claims: [{ claim: 'a\0b' }] }, 'evidence-bad6', /^input\.claims\[0\]\.claim must be well-formed/],
    [
      'half of a character',
      { claims: [{ claim: 'a\ud800b' }] },
      'evidence-bad7',
      /^input\.claims\[0\]\.claim must be well-formed/,
    ],
    [
      'a slug with U+0000',
      { claims: [{ claim: 'x', technologySlug: '\0' }] },
      'evidence-bad8',
      /^input\.claims\[0\]\.technologySlug must be well-formed/,
    ],
    ['a URL with U+0000', { sourceUrl: 'https://a.com/\0' }, 'evidence-bad9', /^input\.sourceUrl must be well-formed/],
    ['a source that is no page', { sourceUrl: 'file:///etc/passwd' }, 'evidence-bad5', /^input\.sourceUrl must be an http/],
  ])('%s is refused with the name of its field', async (_name, change, key, message) => {
    const [code, text] = await errorOf(INGEST, { input: { ...CAPTURE, ...change }, key });
    expect([code, text]).toEqual(['invalid_request', expect.stringMatching(message)]);
  });

  test('candidates are paged by cursor; a cursor of other filters or a forged one is refused', async () => {
    const claims = Array.from({ length: 7 }, (_, i) => ({ claim: `claim ${i}`, technologySlug: 'yotpo' }));
    await dataOf(INGEST, { input: { ...CAPTURE, claims }, key: 'evidence-pages' });
    const PAGE = `query ($after: String, $slug: String) { candidates(status: pending, technologySlug: $slug, first: 3, after: $after) {
      nodes { id claim status sourceUrl capturedAt } edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }`;
    interface Page {
      candidates: {
        nodes: { id: string; claim: string }[];
        edges: { cursor: string }[];
        pageInfo: { hasNextPage: boolean; endCursor: string };
      };
    }
    const read = async (after: string | null): Promise<Page> => (await dataOf(PAGE, { after, slug: 'yotpo' })) as unknown as Page;
    const seen: string[] = [];
    let after: string | null = null;
    for (let more = true; more;) {
      const { candidates } = await read(after);
      seen.push(...candidates.nodes.map(({ claim }) => claim));
      expect(candidates.edges.at(-1)?.cursor).toBe(candidates.pageInfo.endCursor);
      after = candidates.pageInfo.endCursor;
      more = candidates.pageInfo.hasNextPage;
    }
    expect(seen.toSorted()).toEqual(claims.map(({ claim }) => claim));
    for (const [cursor, slug] of [
      [after, 'klaviyo'],
      ['x', 'yotpo'],
    ] as const)
      expect(await errorOf(PAGE, { after: cursor, slug })).toEqual([
        'invalid_request',
        expect.stringContaining('after must be a cursor'),
      ]);
    expect(await errorOf(PAGE, { after: null, slug: '\0' })).toEqual([
      'invalid_request',
      'technologySlug must be well-formed Unicode without U+0000',
    ]);
    expect(await errorOf('{ candidates(first: 201) { nodes { id } } }')).toEqual(['invalid_request', 'first must be 1 to 200']);
  });

  test('a candidate is resolved to a domain, or rejected by an explicit null, and the decision is final', async () => {
    const { ingestEvidence } = await dataOf(INGEST, { input: CAPTURE, key: 'evidence-resolve' });
    const [id, other] = (ingestEvidence as { candidateIds: string[] }).candidateIds;
    const RESOLVE = 'mutation ($id: ID!, $domain: String) { resolveCandidate(id: $id, domain: $domain) { id domain status } }';
    expect(await dataOf(RESOLVE, { id, domain: 'www.resolved.com' })).toEqual({
      resolveCandidate: { id, domain: 'resolved.com', status: 'resolved' },
    });
    expect(await dataOf('{ store(domain: "resolved.com") { domain state } }')).toEqual({
      store: { domain: 'resolved.com', state: 'candidate' },
    });
    expect(await errorOf(RESOLVE, { id, domain: null })).toEqual(['conflict', 'the candidate is resolved already']);
    expect(await errorOf(RESOLVE, { id: other })).toEqual(['invalid_request', 'domain must be given; null rejects the claim']);
    expect(await dataOf(RESOLVE, { id: other, domain: null })).toMatchObject({ resolveCandidate: { status: 'rejected' } });
    for (const unknown of ['cnd_x', '\0'])
      expect(await errorOf(RESOLVE, { id: unknown, domain: 'a.com' })).toEqual([
        'not_found',
        'there is no candidate with this id',
      ]);
  });

  test('scans are queued in input order; domains that cannot be scanned have a reason', async () => {
    const query = 'mutation ($domains: [String!]!) { queueScans(domains: $domains) { domain scanJobId isNew reason } }';
    const domains = ['https://queued.com/x', 'localhost', 'denied.com', 'queued.com'];
    const job = expect.stringMatching(/^job_/);
    expect(await dataOf(query, { domains })).toEqual({
      queueScans: [
        { domain: domains[0], scanJobId: job, isNew: true, reason: null },
        { domain: 'localhost', scanJobId: null, isNew: false, reason: 'invalid_domain' },
        { domain: 'denied.com', scanJobId: null, isNew: false, reason: 'blocked' },
        { domain: 'queued.com', scanJobId: job, isNew: true, reason: null },
      ],
    });
    const again = (await dataOf(query, { domains: ['queued.com'] }))['queueScans'] as { isNew: boolean }[];
    expect(again[0]?.isNew).toBe(false);
    expect(await errorOf(query, { domains: [] })).toEqual(['invalid_request', 'domains must have 1 to 100 items']);
  });
});

describe('authorization', () => {
  const QUERY = { query: '{ technology(slug: "shopify") { slug } }' };
  const envelope = (code: string) => ({ error: { code, message: expect.any(String), request_id: expect.any(String) } });

  test('only the service token is accepted, not a missing token or a workspace API key', async () => {
    const key = await api.addKey({ scopes: ['read:stores', 'admin:workspace'] });
    for (const token of [undefined, key.token, `${TOKEN}x`]) {
      const response = await post(QUERY, { token });
      expect([response.status, response.json]).toEqual([401, envelope('unauthorized')]);
      expect(response.headers.get('x-request-id')).toBe((response.json['error'] as { request_id: string }).request_id);
    }
    await using closed = await startTestStoreApi({}, api.database);
    expect((await closed.request('/graphql', { method: 'POST', token: TOKEN, body: QUERY })).status).toBe(401);
  });

  test('many calls without the service token are delayed, and each is counted', async () => {
    const counts = async () => {
      const samples = parseScrape((await api.request('/metrics')).text, 'classic').flatMap((family) => family.samples);
      const sampleOf = (name: string, reason?: string) =>
        samples.find((of) => of.name === name && of.labels['reason'] === reason);
      const left = sampleOf('svc_store_api_client_left_total')?.value ?? Number.NaN;
      const rejected = sampleOf('svc_store_api_rejection_total', 'service_token')?.value ?? Number.NaN;
      return { left, rejected, delayed: sampleOf('svc_store_api_refusal_delayed_total')?.value ?? Number.NaN };
    };
    const before = await counts();
    await Promise.all(Array.from({ length: 400 }, () => post(QUERY, { token: undefined })));
    const after = await counts();
    expect(after.rejected).toBe(before.rejected + 400);
    expect(after.delayed).toBeGreaterThan(before.delayed);
    const leaving = new AbortController();
    const call = () => fetch(`${api.url}/graphql`, { method: 'POST', signal: leaving.signal });
    const calls = Array.from({ length: 300 }, () => call().catch(() => 'left'));
    await Promise.race(calls);
    leaving.abort();
    const leavers = (await Promise.all(calls)).filter((outcome) => outcome === 'left').length;
    await waitUntil(async () => (await counts()).rejected === after.rejected + 300, { what: 'the calls' });
    expect(leavers).toBeGreaterThan(0);
    expect((await counts()).left).toBeGreaterThan(before.left);
  });

  test.each<[string, object, number, string]>([
    ['GET', { method: 'GET', body: undefined }, 405, 'invalid_request'],
    [
      'a form',
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'query=%7B__typename%7D' },
      400,
      'invalid_request',
    ],
    ['text', { headers: { 'Content-Type': 'text/plain' }, body: '{ __typename }' }, 400, 'invalid_request'],
    ['no JSON', { body: '{' }, 400, 'invalid_request'],
    ['a list of queries', { body: [QUERY] }, 400, 'invalid_request'],
    ['no query', { body: {} }, 400, 'invalid_request'],
    ['variables that are a list', { body: { ...QUERY, variables: [1] } }, 400, 'invalid_request'],
    ['a body of 256 KB and 1 byte', { body: { query: 'x'.repeat(262_145) } }, 400, 'invalid_request'],
    ['a compressed body', { headers: { 'Content-Encoding': 'gzip' } }, 400, 'invalid_request'],
  ])('%s is refused with the envelope', async (_name, options, status, code) => {
    const response = await post(QUERY, options);
    expect([response.status, response.json]).toEqual([status, envelope(code)]);
    expect(response.headers.get('allow')).toBe(status === 405 ? 'POST' : null);
  });

  test.each<[string, string, RegExp]>([
    ['introspection', '{ __schema { types { name } } }', /introspection has been disabled/],
    ['introspection of a type', '{ __type(name: "Store") { name } }', /introspection has been disabled/],
    [
      'a field that does not exist, without its neighbours',
      '{ stor(domain: "a.com") { domain } }',
      /^Cannot query field "stor" on type "Query"\.$/,
    ],
    ['what is no GraphQL', '{ store(', /^Syntax Error/],
    ['more than 2,000 tokens', `{ ${'a '.repeat(2_001)} }`, /2000/],
    ['a query that is too deep', `{ store(domain: "a.com") { ${'a { '.repeat(12)}b${' }'.repeat(12)} } }`, /levels deep/],
    ['a subscription', 'subscription { store }', /./],
    ['two operations without a name', 'query A { __typename } query B { __typename }', /operationName must name one/],
  ])('%s is refused', async (_name, query, message) => {
    expect(await errorOf(query)).toEqual(['invalid_request', expect.stringMatching(message)]);
  });

  test('introspection works where it is allowed', async () => {
    await using open = await startTestStoreApi(
      { STORE_API_GRAPHQL_SERVICE_TOKEN: TOKEN, STORE_API_GRAPHQL_INTROSPECTION: 'true' },
      api.database,
    );
    const response = await open.request('/graphql', {
      method: 'POST',
      token: TOKEN,
      body: { query: '{ __schema { queryType { name } } }' },
    });
    expect(response.json).toEqual({ data: { __schema: { queryType: { name: 'Query' } } } });
  });

  test('an internal failure is an error without details, which are logged', async () => {
    await using broken = await startTestStoreApi({ STORE_API_GRAPHQL_SERVICE_TOKEN: TOKEN });
    await broken.database.owner.execute('ALTER TABLE technologies RENAME TO gone');
    const response = await broken.request('/graphql', { method: 'POST', token: TOKEN, body: QUERY });
    expect([response.status, response.json]).toEqual([
      200,
      {
        data: { technology: null },
        errors: [
          expect.objectContaining({
            message: 'The service failed; retry once after a few seconds.',
            extensions: { code: 'internal' },
          }),
        ],
      },
    ]);
    expect(response.text).not.toContain('relation');
    const line = broken.log.find((one) => one.includes('GraphQL field failed'));
    expect(line).toContain('relation \\"technologies\\" does not exist');
    expect(line).toContain(response.headers.get('x-request-id') ?? 'an id');
  });

  test('requests are counted by root field, regardless of operation names', async () => {
    await using counted = await startTestStoreApi(
      {
        STORE_API_GRAPHQL_SERVICE_TOKEN: TOKEN,
        STORE_API_OBSERVABILITY_OTEL_PROMETHEUS_ENABLED: 'true',
        STORE_API_OBSERVABILITY_OTEL_PROMETHEUS_PUBLIC: 'true',
      },
      api.database,
    );
    const send = (body: object) => counted.request('/graphql', { method: 'POST', token: TOKEN, body });
    await send({ query: 'query Evil1 { x: technology(slug: "shopify") { slug } }' });
    await send({ query: 'query Evil2 { ...f } fragment f on Query { technology(slug: "shopify") { slug } }' });
    await send({ query: '{ technology(slug: "shopify") { slug } store(domain: "a.com") { domain } }' });
    await send({ query: '{ nothing }' });
    const { text } = await counted.request('/metrics');
    const valueOf = (operation: string, code = '') =>
      text
        .split('\n')
        .find(
          (line) =>
            line.startsWith('svc_store_api_request_total{') &&
            line.includes(`operation="graphql.${operation}"`) &&
            line.includes(`code="${code}"`),
        )
        ?.split(' ')
        .at(-1);
    expect(['technology', 'several', 'store', 'analyzeStore'].map((name) => valueOf(name))).toEqual(['2', '1', '0', '0']);
    expect(valueOf('invalid', 'invalid_request')).toBe('1');
    expect(text).not.toMatch(/Evil|nothing/);
  });
});
