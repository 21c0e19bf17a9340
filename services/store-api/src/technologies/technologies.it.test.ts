import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Technology } from '@vitrine/registry/technology';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import type { QueryOf } from '../contract/operation.ts';
import type { listTechnologies } from '../contract/served-operations.ts';
import { startTestStoreApi, type TestApiKey, type TestStoreApi } from '../testing/start-test-store-api.ts';

let api: TestStoreApi;
let key: TestApiKey;
beforeAll(async () => {
  api = await startTestStoreApi();
  key = await api.addKey({ plan: 'partner' });
});
afterAll(async () => api[Symbol.asyncDispose]());

interface Page {
  readonly data: { readonly slug: string; readonly name: string; readonly kind: string }[];
  readonly next_cursor: string | null;
}
const get = (query: string, { token } = key) => api.request(`/v1/technologies${query}`, { token });
const pageOf = async (query: string) => (await get(query)).json as unknown as Page;

test('pages of any size return the whole vocabulary in order of slugs', async () => {
  for (const limit of [200, 7]) {
    const slugs: string[] = [];
    let cursor = '';
    do {
      const page = await pageOf(`?limit=${limit}${cursor}`);
      expect(page.data.length).toBeLessThanOrEqual(limit);
      slugs.push(...page.data.map(({ slug }) => slug));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(slugs).toEqual(VOCABULARY.map(({ slug }) => slug));
  }
  expect((await pageOf('')).data).toHaveLength(50);
});

/** For each filter, a value and the technologies that it finds. */
const FILTERS: {
  readonly [Name in Exclude<keyof QueryOf<typeof listTechnologies>, 'cursor' | 'limit'>]: [string, (of: Technology) => boolean];
} = {
  kind: ['app', ({ kind }) => kind === 'app'],
  category: ['bnpl', ({ category }) => category === 'bnpl'],
  q: ['KLA', ({ name, slug }) => /^kla/i.test(name) || slug.startsWith('kla')],
};

test.each(Object.entries(FILTERS))(
  'the filter %s finds the technologies with its value, and only these',
  async (name, [value, isMeant]) => {
    const meant = VOCABULARY.filter(isMeant);
    expect(meant.length).toBeGreaterThan(0);
    expect(meant.length).toBeLessThan(VOCABULARY.length);
    expect((await pageOf(`?${name}=${value}&limit=200`)).data.map(({ slug }) => slug)).toEqual(meant.map(({ slug }) => slug));
  },
);

test('a filter that nothing matches is an empty page', async () => {
  expect(await pageOf('?category=nothing')).toEqual({ data: [], next_cursor: null });
});

test.each([
  ['?limit=0', 'limit'],
  ['?limit=201', 'limit'],
  ['?limit=', 'limit'],
  ['?limit=1.5', 'limit'],
  ['?limit=5&limit=6', 'limit'],
  ['?q=x', 'q'],
  [`?q=${'x'.repeat(65)}`, 'q'],
  ['?q=', 'q'],
  ['?kind=other', 'kind'],
  ['?kind=must%20be%20one%20of%20platform,%20app,%20service,%20theme', 'kind'],
  ['?cursor=', 'cursor'],
  ['?cursor=x', 'cursor'],
  [`?cursor=${Buffer.from('{"pepper":1,"after":"a","expires":9999999999999}').toString('base64url')}.AAAA`, 'cursor'],
])('%s is 400 and names %s', async (query, field) => {
  const { status, json } = await get(query);
  expect([status, json['error']]).toMatchObject([400, { code: 'invalid_request', message: expect.stringContaining(field) }]);
});

test.each(Object.entries(FILTERS))('a cursor is refused with another value of the filter %s', async (name, [value]) => {
  const { next_cursor: cursor } = await pageOf('?limit=1');
  expect((await get(`?limit=1&${name}=${value}&cursor=${cursor}`)).status).toBe(400);
});

test('a modified cursor, or one of other filters, of another workspace or older than 24 hours is 400', async () => {
  const { next_cursor: cursor } = await pageOf('?limit=5&kind=app');
  const [head = '', mac = ''] = (cursor ?? '').split('.');
  const text = Buffer.from(head, 'base64url').toString();
  const [expiresAt] = JSON.parse(text) as [number, string];
  const other = Buffer.from(JSON.stringify([expiresAt, 'zzz'])).toString('base64url');
  const another = await api.addKey();
  const responses = [
    await get(`?limit=5&kind=app&cursor=${other}.${mac}`),
    await get(`?limit=5&cursor=${cursor}`),
    await get(`?limit=5&kind=app&q=kl&cursor=${cursor}`),
    await get(`?limit=5&kind=app&cursor=${cursor}`, another),
    await get(`?limit=5&kind=app&cursor=${cursor}.x`),
  ];
  expect(responses.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
  expect((await get(`?limit=9&kind=app&cursor=${cursor}`)).status).toBe(200);
});

test('one technology by its slug; unknown slugs and Object.prototype names are 404', async () => {
  expect((await api.request('/v1/technologies/klaviyo', key)).json).toEqual({
    slug: 'klaviyo',
    name: 'Klaviyo',
    kind: 'app',
    category: 'email-sms',
    vendor: 'Klaviyo',
    website: expect.stringMatching(/^https:/),
    listing_url: 'https://example.com/technologies/klaviyo',
  });
  for (const slug of ['nothing', '__proto__', 'constructor', '%ff'])
    expect((await api.request(`/v1/technologies/${slug}`, key)).status).toBe(404);
});
