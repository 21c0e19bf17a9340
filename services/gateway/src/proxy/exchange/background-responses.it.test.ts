import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseScrape } from '@vitrine/testkit/parse-scrape';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TraceDetail, TracePage } from '@vitrine/traces/trace';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rawExchange } from '../../testing/raw-exchange.ts';
import { startScriptedProvider, type ScriptedRequest, type ScriptedResponse } from '../../testing/scripted-provider.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

// Reading back a stored or background response adds no tokens and no cost. The exception is the first time that the finished usage of a
// background response created here is seen: it counts once, on the creating key. Spec: G11.19.

const TOKENS = { a: 'key-a-token-0123456789-0123', b: 'key-b-token-0123456789-0123', other: 'other-token-0123456789-0123' };
const KEYS = `auth: {enabled: true, keys: [
  {id: a, token: ${TOKENS.a}, org_id: acme, role: admin}, {id: b, token: ${TOKENS.b}, org_id: acme, role: admin},
  {id: other, token: ${TOKENS.other}, org_id: beta, role: admin}]}`;
type Key = keyof typeof TOKENS;

const USAGE = {
  input_tokens: 1_000,
  input_tokens_details: { cached_tokens: 200 },
  output_tokens: 300,
  output_tokens_details: { reasoning_tokens: 100 },
  total_tokens: 1_300,
};
/** Of gpt-4o-mini: 800 at 0.15, 200 at 0.075 and 300 at 0.60 a million. */
const COST = 0.000315;
const MODEL = 'gpt-4o-mini-2024-07-18';
const JSON_TYPE = { 'content-type': 'application/json' };

const response = (id: string, status: string, more: object = {}) => ({
  id,
  object: 'response',
  status,
  background: true,
  model: MODEL,
  output: [],
  usage: status === 'queued' || status === 'in_progress' ? null : USAGE,
  ...more,
});
const jsonResponse = (body: object): ScriptedResponse => ({ headers: JSON_TYPE, body: JSON.stringify(body) });
const events = (some: readonly object[], end: 'chunked' | 'cut'): ScriptedResponse => ({
  headers: { 'content-type': 'text/event-stream', ...(end === 'cut' ? { 'transfer-encoding': 'chunked' } : {}) },
  body: some.map((one) => `event: ${(one as { type: string }).type}\ndata: ${JSON.stringify(one)}\n\n`).join(''),
  end,
});

let script: (request: ScriptedRequest) => ScriptedResponse;
let provider: Awaited<ReturnType<typeof startScriptedProvider>>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let gateway: TestGateway;
let traced = 0;
let ids = 0;
const nextId = () => `resp_${(ids += 1)}`;

const start = (yaml = KEYS) =>
  startTestGateway({ SVC_PROVIDERS_OPENAI_UPSTREAM: provider.url, SVC_STORAGE_PATH: join(folder.path, 'traces.db') }, yaml);
beforeAll(async () => {
  provider = await startScriptedProvider((request) => script(request));
  folder = await temporaryFolder('background');
  gateway = await start();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

async function ask<T>(path: string, key: Key): Promise<T> {
  return (await (await fetch(gateway.url + path, { headers: { 'x-svc-gateway-key': TOKENS[key] } })).json()) as T;
}

/** The usage of all traces of a tenant. */
const totals = async (key: Key) => {
  const usage = await ask<{ total_tokens: number }>('/api/analytics/usage', key);
  const cost = await ask<{ total_cost_usd: number }>('/api/analytics/cost', key);
  return [usage.total_tokens, cost.total_cost_usd];
};

interface Sent {
  readonly key?: Key;
  readonly method?: string;
  readonly body?: object;
}

/** Sends a request and returns its trace. */
async function send(path: string, { key = 'a', method = 'GET', body }: Sent, reply: ScriptedResponse): Promise<TraceDetail> {
  script = () => reply;
  await sendOnly(path, { key, method, ...(body === undefined ? {} : { body }) });
  return newest(key);
}

async function sendOnly(path: string, { key = 'a', method = 'GET', body }: Sent): Promise<void> {
  const headers = { ...JSON_TYPE, authorization: 'Bearer sk-one-0123456789', 'x-svc-gateway-key': TOKENS[key] };
  const bytes = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
  await rawExchange(`${gateway.url}/openai/v1/${path}`, { method, headers, ...bytes }).catch(() => {});
  traced += 1;
}

/** The newest trace, once all are written. */
async function newest(key: Key): Promise<TraceDetail> {
  const written = async () => ((await (await fetch(`${gateway.url}/api/health`)).json()) as { trace_count: number }).trace_count;
  await waitUntil(async () => (await written()) >= traced, { what: `${traced} traces` });
  const { items } = await ask<TracePage>('/api/traces?limit=1', key);
  return ask<TraceDetail>(`/api/traces/${items[0]?.id}`, key);
}

const create = (id: string, more: Sent = {}, fields: object = {}) =>
  send(
    'responses',
    { method: 'POST', body: { model: 'gpt-4o-mini', input: 'hi', background: true }, ...more },
    jsonResponse(response(id, 'queued', fields)),
  );
const poll = (id: string, status = 'completed', more: Sent = {}) =>
  send(`responses/${id}`, more, jsonResponse(response(id, status)));

const NOTHING = { input_tokens: 0, output_tokens: 0, total_tokens: 0, estimated_cost_usd: 0, cost_status: 'free' };
const COUNTED = {
  model: MODEL,
  input_tokens: 1_000,
  output_tokens: 300,
  total_tokens: 1_300,
  estimated_cost_usd: COST,
  cost_status: 'priced',
  usage_status: 'reported',
};

describe('a response that was created in the background', () => {
  test('counts once, when a poll sees its usage for the first time', async () => {
    const id = nextId();
    expect(await create(id)).toMatchObject({
      total_tokens: 0,
      usage_status: 'estimated',
      cost_status: 'estimated',
      metadata: { background_response_id: id },
    });
    const before = await totals('a');
    for (const status of ['queued', 'in_progress']) expect(await poll(id, status)).toMatchObject(NOTHING);
    expect(await totals('a')).toEqual(before);
    expect(await poll(id)).toMatchObject({
      ...COUNTED,
      metadata: { background_response_id: id, gateway_key_id: 'a', cached_input_tokens: 200, reasoning_tokens: 100 },
    });
    for (let again = 0; again < 3; again += 1) expect(await poll(id)).toMatchObject(NOTHING);
    expect(await totals('a')).toEqual([(before[0] ?? 0) + 1_300, expect.closeTo((before[1] ?? 0) + COST, 15)]);
  });

  test('counts once when many poll at the same time', async () => {
    const id = nextId();
    await create(id);
    const before = await totals('a');
    script = () => jsonResponse(response(id, 'completed'));
    await Promise.all(Array.from({ length: 20 }, (_, i) => sendOnly(`responses/${id}`, { key: i % 2 === 0 ? 'a' : 'b' })));
    await newest('a');
    expect((await totals('a'))[0]).toBe((before[0] ?? 0) + 1_300);
  });

  test('counts on the key that created it, whichever key of the tenant polls', async () => {
    const id = nextId();
    await create(id);
    expect(await poll(id, 'completed', { key: 'b' })).toMatchObject({
      ...COUNTED,
      metadata: { gateway_key_id: 'a', polled_by_gateway_key_id: 'b' },
    });
    expect(await poll(id, 'completed', { key: 'b' })).toMatchObject({ ...NOTHING, metadata: { gateway_key_id: 'b' } });
  });

  test('does not count for another tenant, which does not use it up', async () => {
    const id = nextId();
    await create(id);
    expect(await poll(id, 'completed', { key: 'other' })).toMatchObject(NOTHING);
    expect(await poll(id)).toMatchObject(COUNTED);
  });

  test('also counts once when it fails or is cancelled', async () => {
    for (const status of ['failed', 'incomplete']) {
      const id = nextId();
      await create(id);
      expect(await poll(id, status)).toMatchObject(COUNTED);
    }
    const id = nextId();
    await create(id);
    const cancel = () => send(`responses/${id}/cancel`, { method: 'POST' }, jsonResponse(response(id, 'cancelled')));
    expect(await cancel()).toMatchObject(COUNTED);
    expect(await cancel()).toMatchObject(NOTHING);
    expect(await poll(id, 'cancelled')).toMatchObject(NOTHING);
  });

  test('is remembered across a restart, and so is that it was counted', async () => {
    const [pending, counted] = [nextId(), nextId()];
    await create(pending);
    await create(counted);
    await poll(counted);
    await gateway[Symbol.asyncDispose]();
    gateway = await start();
    expect(await poll(pending)).toMatchObject(COUNTED);
    expect(await poll(counted)).toMatchObject(NOTHING);
    // The same id does not start over.
    await create(counted);
    expect(await poll(counted)).toMatchObject(NOTHING);
  });

  test('is recognised by its own id, for any path, size and coding', async () => {
    const id = nextId();
    const text = 'word '.repeat(30_000);
    await create(id, {}, { instructions: text });
    const body = gzipSync(JSON.stringify(response(id, 'completed', { instructions: text })));
    const reply = { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body };
    expect(await send(`responses/${encodeURIComponent(id).replace('_', '%5F')}?include%5B%5D=x`, {}, reply)).toMatchObject(
      COUNTED,
    );
    const other = nextId();
    await create(other);
    // Without an id in the body, the id in the path counts.
    expect(await send(`responses/${other}`, {}, jsonResponse({ model: MODEL, usage: USAGE }))).toMatchObject(COUNTED);
  });

  test('counts against the daily quota of the key that created it', async () => {
    await gateway[Symbol.asyncDispose]();
    const spent = await quotaOf('a');
    gateway = await start(`${KEYS}\nlimits: {per_key: {max_tokens_per_day: ${spent + 1_000}}}`);
    const id = nextId();
    await create(id);
    await poll(id, 'completed', { key: 'b' });
    const statusOf = async (key: Key) => {
      script = () => jsonResponse({ data: [] });
      const models = await fetch(`${gateway.url}/openai/v1/models`, {
        headers: { 'x-svc-gateway-key': TOKENS[key], authorization: 'Bearer sk-x' },
      });
      traced += 1;
      return [models.status, ((await models.json()) as { code?: string }).code];
    };
    expect(await statusOf('a')).toEqual([429, 'KEY_DAILY_TOKENS_EXCEEDED']);
    expect(await statusOf('b')).toEqual([200, undefined]);
    await gateway[Symbol.asyncDispose]();
    gateway = await start();
  });
});

test('its tokens are metered once, as those of the creating request', async () => {
  await gateway[Symbol.asyncDispose]();
  gateway = await start(`${KEYS}\nobservability: {otel: {genai: true, prometheus_enabled: true}}`);
  const id = nextId();
  await create(id);
  await poll(id, 'in_progress');
  await poll(id, 'completed', { key: 'b' });
  await poll(id);
  const scraped = await (await fetch(`${gateway.url}/metrics`, { headers: { 'x-svc-gateway-key': TOKENS.a } })).text();
  const families = parseScrape(scraped, 'classic').filter(({ name }) => name === 'gen_ai_client_token_usage');
  const sums = families.flatMap(({ samples }) => samples.filter(({ name }) => /_(sum|count)$/.test(name)));
  expect(sums.map(({ labels, value }) => [labels['gen_ai_operation_name'], labels['gen_ai_token_type'], value])).toEqual(
    expect.arrayContaining([
      ['chat', 'input', 1],
      ['chat', 'input', 1_000],
      ['chat', 'output', 1],
      ['chat', 'output', 300],
    ]),
  );
  expect(sums).toHaveLength(4);
});

/** What a key has used today, by its traces. */
async function quotaOf(key: Key): Promise<number> {
  gateway = await start();
  const { items } = await ask<TracePage>('/api/traces?limit=200', key);
  let spent = 0;
  for (const { id, total_tokens } of items) {
    if (total_tokens === 0) continue;
    const { metadata } = await ask<TraceDetail>(`/api/traces/${id}`, key);
    if (metadata['gateway_key_id'] === key) spent += total_tokens;
  }
  await gateway[Symbol.asyncDispose]();
  return spent;
}

describe('a stream of a response in the background', () => {
  const streamed = { method: 'POST', body: { model: 'gpt-4o-mini', input: 'hi', background: true, stream: true } };
  const begun = (id: string, more: object = {}) => [
    { type: 'response.created', response: response(id, 'queued', more) },
    { type: 'response.in_progress', response: response(id, 'in_progress', more) },
    { type: 'response.output_text.delta', delta: 'hello' },
  ];
  const ended = (id: string) => [{ type: 'response.completed', response: response(id, 'completed') }];

  test('counts when it ends, and not when it is read back', async () => {
    const id = nextId();
    expect(await send('responses', streamed, events([...begun(id), ...ended(id)], 'chunked'))).toMatchObject(COUNTED_BY_REQUEST);
    expect(await poll(id)).toMatchObject(NOTHING);
  });

  test.each([
    ['says that it is in the background', {}],
    ['does not say so, as its request does', { background: undefined }],
  ])('that was cut counts once when it is resumed (%s)', async (_name, more) => {
    const id = nextId();
    expect(await send('responses', streamed, events(begun(id, more), 'cut'))).toMatchObject({
      total_tokens: 0,
      usage_status: 'estimated',
      metadata: { background_response_id: id },
    });
    const path = `responses/${id}?stream=true&starting_after=2`;
    expect(await send(path, {}, events([begun(id)[2] ?? {}], 'cut'))).toMatchObject(NOTHING);
    const resumed = await send(path, { key: 'b' }, events(ended(id), 'chunked'));
    expect(resumed).toMatchObject({
      ...COUNTED,
      metadata: { streaming: true, gateway_key_id: 'a', polled_by_gateway_key_id: 'b' },
    });
    expect(await send(path, {}, events(ended(id), 'chunked'))).toMatchObject(NOTHING);
    expect(await poll(id)).toMatchObject(NOTHING);
  });

  test('that was cut and was not in the background is not remembered', async () => {
    const id = nextId();
    const body = { model: 'gpt-4o-mini', input: 'hi', stream: true };
    await send('responses', { method: 'POST', body }, events(begun(id, { background: false }), 'cut'));
    expect(await poll(id)).toMatchObject(NOTHING);
  });
});
const COUNTED_BY_REQUEST = { ...COUNTED, model: 'gpt-4o-mini' };

describe('a request that only reads back', () => {
  test.each([
    ['a stored response', 'responses/resp_stored', 'GET', response('resp_stored', 'completed', { background: false })],
    ['a response that was created elsewhere', 'responses/resp_elsewhere', 'GET', response('resp_elsewhere', 'completed')],
    ['the cancellation of one', 'responses/resp_elsewhere/cancel', 'POST', response('resp_elsewhere', 'cancelled')],
    ['a stored chat completion', 'chat/completions/chatcmpl_1', 'GET', { id: 'chatcmpl_1', model: MODEL, usage: USAGE }],
    ['a change of its metadata', 'chat/completions/chatcmpl_1', 'POST', { id: 'chatcmpl_1', model: MODEL, usage: USAGE }],
    ['a batch', 'batches/batch_1', 'GET', { id: 'batch_1', status: 'completed', usage: USAGE }],
  ])('%s costs nothing', async (_name, path, method, body) => {
    const before = await totals('a');
    expect(await send(path, { method, ...(method === 'POST' ? { body: {} } : {}) }, jsonResponse(body))).toMatchObject({
      ...NOTHING,
      metadata: { usage_read_back: true },
    });
    expect(await totals('a')).toEqual(before);
  });

  test('a request that generates is charged as usual', async () => {
    for (const path of ['responses', 'chat/completions', 'responses/compact']) {
      const body = { id: nextId(), status: 'completed', model: MODEL, usage: USAGE };
      const trace = await send(path, { method: 'POST', body: { model: 'gpt-4o-mini' } }, jsonResponse(body));
      expect(trace).toMatchObject(COUNTED_BY_REQUEST);
      expect(trace.metadata).not.toHaveProperty('usage_read_back');
    }
    const counted = await send('responses/input_tokens', { method: 'POST', body: {} }, jsonResponse({ input_tokens: 7 }));
    expect(counted).toMatchObject({ ...NOTHING, usage_status: 'missing' });
  });
});
