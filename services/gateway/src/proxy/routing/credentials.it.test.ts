import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { rawExchange } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

let gateway: TestGateway;
let count = 0;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());

async function traceOf(headers: Record<string, string>) {
  const path = '/openai/deployments/gpt-4o/chat/completions?api-version=2024-06-01';
  await rawExchange(gateway.url + path, {
    body: Buffer.from('{"model":"gpt-4o"}'),
    headers: { 'content-type': 'application/json', 'x-mock-scenario': 'echo', ...headers },
  });
  count += 1;
  return gateway.newest(count);
}

function lastAtProvider(): Record<string, string | undefined> {
  const { rawHeaders = [] } = gateway.openai.received.at(-1) ?? {};
  return Object.fromEntries(rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1]]] : [])));
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('of the credential of a provider', () => {
  test.each([
    ["Azure's api-key", { 'api-key': 'azure-key-0123456789' }, 'azure-key-0123456789', '6789'],
    ['a bearer token', { authorization: 'Bearer sk-0123456789abcdef' }, 'sk-0123456789abcdef', 'cdef'],
    ['a key of sixteen characters', { 'x-api-key': '0123456789abcdef' }, '0123456789abcdef', 'cdef'],
    ['a key of fifteen characters', { 'x-api-key': '0123456789abcde' }, '0123456789abcde', undefined],
    ['a key of four characters', { 'api-key': 'k123' }, 'k123', undefined],
  ])('%s: the hash is stored; the last four characters only from 16 on', async (_, headers, credential, last4) => {
    const trace = await traceOf(headers);
    expect([trace.api_key_hash, trace.metadata['api_key_last4']]).toEqual([sha256(credential), last4]);
    expect(JSON.stringify(trace)).not.toContain(credential);
    expect(lastAtProvider()).toMatchObject(headers);
  });
});

test('the key header of ongoingai/gateway is not forwarded, stored, or used as a provider credential', async () => {
  const trace = await traceOf({ 'X-OngoingAI-Gateway-Key': 'ogk_canary-0123456789' });
  expect(trace.request_headers).toMatchObject({ 'x-ongoingai-gateway-key': ['[REDACTED]'] });
  expect(trace.api_key_hash).toBeUndefined();
  expect(lastAtProvider()).not.toHaveProperty('x-ongoingai-gateway-key');
  expect(JSON.stringify([trace, gateway.log])).not.toContain('canary');
});

test('it may be configured as the key header for old clients; a provider header may not', async () => {
  const keys = '{ id: gk_test, token: ogk_0123456789-0123456789, org_id: o, workspace_id: w, role: owner }';
  const text = `auth: { enabled: true, header: X-OngoingAI-Gateway-Key, store: file, keys: [${keys}] }`;
  await using own = await startTestGateway({}, text);
  const headers = { 'x-ongoingai-gateway-key': 'ogk_0123456789-0123456789' };
  expect((await rawExchange(`${own.url}/api/traces`, { method: 'GET', headers })).status).toBe(200);
  await expect(startTestGateway({ SVC_AUTH_HEADER: 'api-key' })).rejects.toMatchObject({ code: 'invalid_config' });
});
