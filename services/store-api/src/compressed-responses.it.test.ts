import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { addStores } from './testing/add-stores.ts';
import { startTestStoreApi, type TestStoreApi } from './testing/start-test-store-api.ts';

let api: TestStoreApi;
let token: string;
beforeAll(async () => {
  api = await startTestStoreApi();
  await addStores(api.database.owner, { matched: Array.from({ length: 10 }, (_, n) => `shop-${n}.com`) });
  ({ token } = await api.addKey({ plan: 'growth' }));
});
afterAll(async () => api[Symbol.asyncDispose]());

/** The raw response, because fetch would decompress it. */
async function send(path: string, headers: Record<string, string>, body?: object) {
  const method = body === undefined ? 'GET' : 'POST';
  const all = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }), ...headers };
  const sent = httpRequest(api.url + path, { method, headers: all });
  sent.end(body && JSON.stringify(body));
  const response = await new Promise<IncomingMessage>((resolve, reject) => sent.once('response', resolve).once('error', reject));
  return { headers: response.headers, status: response.statusCode, bytes: await buffer(response) };
}
const BATCH = { domains: Array.from({ length: 10 }, (_, n) => `shop-${n}.com`) };

test.each([
  ['a batch', '/v1/stores/enrich', BATCH],
  ['the contract', '/v1/openapi.json', undefined],
])('%s above 8 KB is compressed for a client that accepts it, with a Vary header', async (_, path, body) => {
  const headers = { 'Idempotency-Key': 'compressed-1' };
  const plain = await send(path, headers, body);
  const compressed = await send(path, { ...headers, 'Accept-Encoding': 'br;q=1.0, gzip;q=0.8' }, body);
  expect(plain.bytes.length).toBeGreaterThan(8_192);
  expect([plain, compressed].map((one) => [one.headers['content-encoding'], one.headers.vary])).toEqual([
    [undefined, 'Accept-Encoding'],
    ['gzip', 'Accept-Encoding'],
  ]);
  expect(gunzipSync(compressed.bytes).equals(plain.bytes)).toBe(true);
  expect(Number(compressed.headers['content-length'])).toBe(compressed.bytes.length);
});

test.each(['gzip;q=0', 'identity', 'br', '*;q=0, identity'])(
  'Accept-Encoding: %s gets the bytes as they are',
  async (accepted) => {
    const { headers, status } = await send('/v1/openapi.json', { 'Accept-Encoding': accepted });
    expect([status, headers['content-encoding']]).toEqual([200, undefined]);
  },
);

test('a short response is not compressed, and the ETag of a profile is weak and the same for all encodings', async () => {
  const gzip = { 'Accept-Encoding': 'gzip' };
  const [first, second] = [await send('/v1/stores/shop-1.com', {}), await send('/v1/stores/shop-1.com', gzip)];
  expect(first.headers.etag).toMatch(/^W\/"matched-/);
  expect(second.headers.etag).toBe(first.headers.etag);
  expect((await send('/v1/account', gzip)).headers['content-encoding']).toBeUndefined();
  const unchanged = await send('/v1/stores/shop-1.com', { ...gzip, 'If-None-Match': first.headers.etag ?? '' });
  expect([unchanged.status, unchanged.headers.etag, unchanged.headers.vary]).toEqual([
    304,
    first.headers.etag,
    'Accept-Encoding',
  ]);
});
