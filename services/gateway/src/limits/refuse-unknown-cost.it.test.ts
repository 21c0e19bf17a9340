import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TracePage } from '@vitrine/traces/trace';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import OpenAI, { toFile } from 'openai';
import { rawExchange, type RawRequest } from '../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const TOKEN = 'one-token-0123456789-0123456789';
const KEY = `{id: one, token: ${TOKEN}, org_id: acme, workspace_id: search, role: owner}`;
const REFUSE = `auth: {enabled: true, keys: [${KEY}]}\nlimits: {unknown: refuse, per_key: {requests_per_minute: 1000}}
observability: {otel: {prometheus_enabled: true}}`;
const code = 'UNKNOWN_COST_REFUSED';
const messages = [{ role: 'user' as const, content: 'hi' }];
const headers = { 'x-svc-gateway-key': TOKEN };

let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;
let exchanges: number;
beforeAll(async () => {
  gateway = await startTestGateway({}, REFUSE);
  openai = new OpenAI({ baseURL: `${gateway.url}/openai/v1`, apiKey: 'sk-canary', defaultHeaders: headers });
  anthropic = new Anthropic({ baseURL: `${gateway.url}/anthropic`, apiKey: 'sk-ant-canary', defaultHeaders: headers });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  exchanges = forwarded();
});

const forwarded = () => gateway.openai.exchanges + gateway.anthropic.exchanges;

function send(path: string, request: RawRequest, of: TestGateway = gateway) {
  const own = { ...headers, authorization: 'Bearer sk-canary', 'content-type': 'application/json' };
  return rawExchange(of.url + path, { ...request, headers: { ...own, ...request.headers } });
}
const chat = (more: object) => Buffer.from(JSON.stringify({ messages, ...more }));

const get = (path: string) => fetch(gateway.url + path, { headers });

/** Requests with status 403, as counted by the scrape. */
async function rejections(): Promise<number> {
  const lines = (await (await get('/metrics')).text()).split('\n').filter((line) => line.startsWith('svc_proxy_request_total{'));
  const counts = lines.filter((line) => line.includes('status_code="403"')).map((line) => Number(line.split(' ').at(-1)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The trace of a correlation id, and its audit event. */
async function recorded(correlationId: string) {
  const { items } = (await (await get('/api/traces?status=403&limit=200')).json()) as TracePage;
  const details = await Promise.all(
    items.map(async ({ id }) => (await get(`/api/traces/${id}`)).json() as Promise<{ metadata: object }>),
  );
  const trace = details.find(({ metadata }) => 'correlation_id' in metadata && metadata.correlation_id === correlationId);
  using database = new DatabaseSync(join(gateway.folder, 'gateway-keys.db'), { readOnly: true });
  const event = database.prepare('SELECT * FROM audit_events WHERE correlation_id = ?').get(correlationId);
  return trace !== undefined && event !== undefined && { trace, event };
}

test('the official SDKs get a 403 with the code once, and the provider gets nothing', async () => {
  const refused = { status: 403, error: expect.anything() };
  const before = await rejections();
  await expect(openai.chat.completions.create({ model: 'prod-chat', messages })).rejects.toMatchObject(refused);
  await expect(openai.chat.completions.create({ model: 'gpt-4o-mini', messages, stream: true })).rejects.toMatchObject(refused);
  const file = await toFile(Buffer.from('RIFF'), 'a.wav');
  await expect(openai.audio.transcriptions.create({ model: 'prod-transcribe', file })).rejects.toMatchObject(refused);
  await expect(anthropic.messages.create({ model: 'claude-next', max_tokens: 9, messages })).rejects.toMatchObject(refused);
  expect([forwarded() - exchanges, (await rejections()) - before]).toEqual([0, 4]);
});

test('priced models, streams that report usage, and requests that are not charged are forwarded', async () => {
  const model = 'gpt-4o-mini';
  await openai.chat.completions.create({ model, messages });
  const stream_options = { include_usage: true };
  for await (const _ of await openai.chat.completions.create({ model, messages, stream: true, stream_options }));
  for await (const _ of anthropic.messages.stream({ model: 'claude-sonnet-5', max_tokens: 9, messages }));
  await openai.audio.transcriptions.create({ model: 'gpt-4o-transcribe', file: await toFile(Buffer.from('RIFF'), 'a.wav') });
  await openai.models.list();
  await anthropic.messages.countTokens({ model: 'claude-next', messages });
  for (const path of ['moderations', 'batches', 'responses/resp_1/cancel'])
    await send(`/openai/v1/${path}`, { body: Buffer.from('{}') });
  expect(forwarded() - exchanges).toBe(9);
  for (const path of ['a-new-endpoint', 'chat/completions?to=/v1/files', 'messages/batch'])
    expect((await send(`/openai/v1/${path}`, { body: Buffer.from('{}') })).status).toBe(403);
});

test('the bytes of a forwarded request and of its response are unchanged', async () => {
  const body = Buffer.from('{ "x": "caf\\u00e9 \\/", "model" : "gpt-4o-mini",\n\t"max_tokens": 5.0 }\r\n');
  for (const [name, sent] of [
    ['with its length', body],
    ['in chunks', [body.subarray(0, 20), body.subarray(20)]],
  ] as const) {
    const response = await send('/openai/v1/chat/completions', { body: sent, headers: { 'x-mock-scenario': 'echo' } });
    expect([name, gateway.openai.received.at(-1)?.body.toString()]).toEqual([name, body.toString()]);
    expect([response.status, response.head.toString()]).toEqual([200, body.toString()]);
  }
});

test('a body that is longer than one that is sent in one piece is read whole before it is forwarded', async () => {
  const content = 'x'.repeat(2_000_000);
  const refused = await send('/openai/v1/chat/completions', {
    body: Buffer.from(JSON.stringify({ content, model: 'prod-chat' })),
  });
  expect([refused.status, forwarded()]).toEqual([403, exchanges]);
  const admitted = await send('/openai/v1/chat/completions', { body: chat({ content, model: 'gpt-4o-mini' }) });
  expect([admitted.status, forwarded()]).toEqual([200, exchanges + 1]);
});

test('a refusal names the model and the next step, and leaves a rejected trace, an audit event and a count', async () => {
  const id = { 'x-svc-correlation-id': 'a-refusal' };
  const response = await send('/openai/v1/chat/completions', { body: chat({ model: 'prod-chat' }), headers: id });
  expect(JSON.parse(response.head.toString())).toEqual({
    error: expect.stringContaining('add its price to the file of prices.override_path'),
    code,
    model: 'prod-chat',
  });
  expect(response.rawHeaders.join()).toContain('x-should-retry,false');
  const { trace, event } = await waitUntil(() => recorded('a-refusal'), { what: 'the trace and the audit event' });
  expect(trace).toMatchObject({
    response_status: 403,
    outcome: 'rejected',
    total_tokens: 0,
    estimated_cost_usd: 0,
    cost_status: 'free',
  });
  expect(trace).not.toHaveProperty('request_body');
  expect(event).toMatchObject({ actor: 'one', action: 'request', outcome: 'deny', reason: code });
});

test('with personal data to block, both checks read one body', async () => {
  await using guarded = await startTestGateway({ SVC_PII_MODE: 'block' }, REFUSE);
  const post = (more: object) => send('/openai/v1/chat/completions', { body: chat(more) }, guarded);
  const errors = [];
  for (const more of [{ model: 'prod-chat' }, { model: 'gpt-4o-mini', user: 'alice@example.com' }, { model: 'gpt-4o-mini' }])
    errors.push((await post(more)).head.toString());
  expect(errors.map((text) => /UNKNOWN_COST|pii policy|chat.completion/.exec(text)?.[0])).toEqual([
    'UNKNOWN_COST',
    'pii policy',
    'chat.completion',
  ]);
  expect(guarded.openai.exchanges).toBe(1);
});

test('with an override, a model of your own has a price', async () => {
  await using folder = await temporaryFolder('prices');
  const path = join(folder.path, 'prices.yaml');
  await writeFile(path, 'models: [{provider: openai, match: prod-*, input_usd_per_mtok: 1, output_usd_per_mtok: 1}]');
  await using priced = await startTestGateway({ SVC_PRICES_OVERRIDE_PATH: path }, REFUSE);
  expect((await send('/openai/v1/chat/completions', { body: chat({ model: 'prod-chat' }) }, priced)).status).toBe(200);
});

test('without authentication, and with another setting, nothing is refused', async () => {
  await using open = await startTestGateway({ SVC_LIMITS_UNKNOWN: 'refuse' });
  expect((await send('/openai/v1/chat/completions', { body: chat({ model: 'prod-chat' }) }, open)).status).toBe(200);
  expect(open.log.join('')).toContain('limits have no effect while auth.enabled is false');
  await using estimating = await startTestGateway({ SVC_LIMITS_UNKNOWN: 'estimate' }, REFUSE.replace('unknown: refuse, ', ''));
  expect((await send('/openai/v1/chat/completions', { body: chat({ model: 'prod-chat' }) }, estimating)).status).toBe(200);
});
