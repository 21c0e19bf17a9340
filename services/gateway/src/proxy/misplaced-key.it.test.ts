import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TracePage } from '@vitrine/traces/trace';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { startScriptedProvider } from '../testing/scripted-provider.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

// Spec: G11.22: a gateway key where the provider's credential belongs is recognised by its value and never forwarded.

const TOKEN = 'a-token-of-ones-own-0123456789';
const OTHER = 'another-key+of-this-house-98765';
const MADE = 'sgk_0123456789abcdefghijklmnopqrstuv';
const KEYS = `auth: {enabled: true, keys: [{id: own, token: ${TOKEN}, role: admin}, {id: other, token: ${OTHER}, role: admin}]}`;
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

const opened = new AsyncDisposableStack();
let folder: string;
let gateway: TestGateway;
let open: TestGateway;
/** Has its anonymous traces left, whose rate is limited. */
let fresh: TestGateway;
let forwarded = 0;
beforeAll(async () => {
  const provider = opened.use(
    await startScriptedProvider(() => {
      forwarded += 1;
      return { headers: { 'content-type': 'application/json' }, body: '{}' };
    }),
  );
  folder = opened.use(await temporaryFolder('misplaced')).path;
  const variables = (name: string) => ({
    SVC_PROVIDERS_OPENAI_UPSTREAM: provider.url,
    SVC_PROVIDERS_ANTHROPIC_UPSTREAM: provider.url,
    SVC_STORAGE_PATH: join(folder, name),
  });
  gateway = opened.use(await startTestGateway(variables('with-keys.db'), KEYS));
  open = opened.use(await startTestGateway(variables('open.db')));
  fresh = opened.use(await startTestGateway(variables('fresh.db'), KEYS));
});
afterAll(() => opened.disposeAsync());

const PLACES: readonly (readonly [string, Readonly<Record<string, string | string[]>>, string])[] = [
  ['Authorization', { authorization: `Bearer ${OTHER}` }, '/openai/v1/models'],
  ['Authorization in capitals', { authorization: `BEARER   ${OTHER}` }, '/openai/v1/models'],
  ['Authorization without a scheme', { authorization: OTHER }, '/openai/v1/models'],
  ['a user of Basic', { authorization: basic(`${OTHER}:`) }, '/openai/v1/models'],
  ['a password of Basic', { authorization: basic(`user:${OTHER}`) }, '/openai/v1/models'],
  ['x-api-key', { 'x-api-key': OTHER }, '/anthropic/v1/models'],
  ['api-key', { 'api-key': OTHER }, '/openai/v1/models'],
  ['a second line of Authorization', { authorization: ['Bearer sk-test', `Bearer ${OTHER}`] }, '/openai/v1/models'],
  ['a second line of x-api-key', { 'x-api-key': ['sk-test', OTHER] }, '/anthropic/v1/models'],
  ['a second word', { authorization: `Bearer sk-test ${OTHER}` }, '/openai/v1/models'],
  ['quotes', { authorization: `Bearer "${OTHER}"` }, '/openai/v1/models'],
  ['a list', { 'api-key': `sk-test,${OTHER}` }, '/openai/v1/models'],
  ['any parameter', {}, `/openai/v1/models?apikey=${OTHER}`],
  ['the name of a parameter', {}, `/openai/v1/models?${OTHER}=`],
  ['a named token', { authorization: `Token token="${OTHER}"` }, '/openai/v1/models'],
  ['a scheme in the query', {}, `/openai/v1/models?key=Bearer%20${OTHER}`],
  ['the query', {}, `/openai/v1/models?a=b&key=${OTHER}`],
  ['a token that no key has', { authorization: `Bearer ${MADE}` }, '/openai/v1/models'],
];

test.each(PLACES)('%s: 401, with a valid key and without one', async (_, headers, path) => {
  const before = forwarded;
  for (const own of [{}, { 'x-svc-gateway-key': TOKEN }]) {
    const [response] = (await once(get(`${gateway.url}${path}`, { headers: { ...headers, ...own } }), 'response')) as [
      IncomingMessage,
    ];
    expect([response.statusCode, await json(response)]).toEqual([401, { error: 'gateway key in provider credential' }]);
  }
  expect(forwarded).toBe(before);
});

test('the credential of a provider passes', async () => {
  const headers = { authorization: 'Bearer sk-test-0123456789abcdef0123456789', 'x-svc-gateway-key': TOKEN };
  const before = forwarded;
  expect((await fetch(`${gateway.url}/openai/v1/models?key=AIza0123456789`, { headers })).status).toBe(200);
  expect(forwarded).toBe(before + 1);
});

test('without authentication generated tokens are recognised, and neither they nor their hashes are stored', async () => {
  const response = await fetch(`${open.url}/openai/v1/models?key=${MADE}`, { headers: { authorization: `Bearer ${MADE}` } });
  expect(response.status).toBe(401);
  const listed = await waitUntil(
    async () => {
      const { items } = (await open.get('/api/traces')) as TracePage;
      return items.length > 0 && items;
    },
    { what: 'the trace of the rejection' },
  );
  expect(listed).toMatchObject([{ outcome: 'rejected', response_status: 401 }]);
  expect(listed[0]).not.toHaveProperty('api_key_hash');
  const stored = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
  const hash = createHash('sha256').update(MADE).digest();
  for (const secret of [MADE, hash.toString('latin1'), hash.toString('hex')])
    expect(stored.filter((text) => text.includes(secret))).toEqual([]);
});

test('a key beside a credential or in the query leaves no part of itself in trace and log', async () => {
  await once(get(`${fresh.url}/anthropic/v1/messages?${OTHER}=`, { headers: { 'x-api-key': ['sk-test', OTHER] } }), 'response');
  // Writes what waits.
  await fresh[Symbol.asyncDispose]();
  expect(JSON.stringify(fresh.log)).toContain('/anthropic/v1/messages');
  const stored = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
  const hash = createHash('sha256').update(OTHER).digest('hex');
  for (const secret of [OTHER, hash, `last4":"${OTHER.slice(-4)}`])
    expect([...stored, ...fresh.log].filter((text) => text.includes(secret))).toEqual([]);
});
