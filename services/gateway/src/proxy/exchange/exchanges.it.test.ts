import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { rawExchange, rawTalk } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

// Each test leaves exactly one trace. `count` is the number of traces so far.
let gateway: TestGateway;
let count = 0;
beforeAll(async () => {
  gateway = await startTestGateway({ SVC_PROXY_IDLE_TIMEOUT_MS: '600', SVC_PROXY_FIRST_BYTE_TIMEOUT_MS: '600' });
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(async () => {
  count = ((await gateway.get('/api/health')) as { trace_count: number }).trace_count + 1;
});

const chat = (extra: object = {}) =>
  Buffer.from(JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello there' }], ...extra }));
const claude = () =>
  Buffer.from(
    JSON.stringify({ model: 'claude-sonnet-5', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }] }),
  );
const headersFor = (scenario: string) => ({
  authorization: 'Bearer sk-test-0123456789',
  'content-type': 'application/json',
  'x-mock-scenario': scenario,
});
const send = (scenario: string, body = chat(), headers: Record<string, string> = {}) =>
  rawExchange(`${gateway.url}/openai/v1/chat/completions`, { body, headers: { ...headersFor(scenario), ...headers } });

/** Starts a request and disconnects after `chunks` chunks of its response. */
function leaveAfter(
  chunks: number,
  scenario: string,
  path = '/openai/v1/chat/completions',
  body = chat({ stream: true }),
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const request = httpRequest(gateway.url + path, {
    method: 'POST',
    headers: { ...headersFor(scenario), 'x-api-key': 'sk-ant-0123456789' },
  });
  const leave = () => {
    request.destroy();
    resolve();
  };
  request.on('error', () => {});
  request.on('response', (response: IncomingMessage) => {
    let seen = 0;
    response.on('error', () => {});
    response.on('data', () => (seen += 1) >= chunks && leave());
  });
  request.end(body);
  const before = gateway.openai.exchanges;
  if (chunks === 0) void waitUntil(() => gateway.openai.exchanges > before, { what: 'the upstream request' }).then(leave);
  return promise;
}

describe('no exchange without a trace', () => {
  test('a client that leaves a stream aborts the upstream at once and leaves a trace', async () => {
    await leaveAfter(3, 'endless');
    expect(await gateway.newest(count)).toMatchObject({
      outcome: 'client_closed',
      response_status: 499,
      usage_status: 'estimated',
      metadata: { streaming: true },
    });
    await waitUntil(() => gateway.openai.open === 0, { what: 'the upstream to be released' });
    expect(gateway.openai.received.at(-1)?.aborted).toBe(true);
  });

  test('what an Anthropic stream had reported before the client left is kept', async () => {
    await leaveAfter(2, 'endless', '/anthropic/v1/messages', claude());
    const trace = await gateway.newest(count);
    expect(trace).toMatchObject({ outcome: 'client_closed', usage_status: 'partial', model: 'claude-sonnet-5' });
    expect(trace.input_tokens).toBeGreaterThan(0);
  });

  test('a client that leaves before the response leaves a trace', async () => {
    await leaveAfter(0, 'slow=30000', undefined, chat());
    expect(await gateway.newest(count)).toMatchObject({
      outcome: 'client_closed',
      response_status: 499,
      usage_status: 'estimated',
    });
    await waitUntil(() => gateway.openai.received.at(-1)?.aborted, { what: 'the upstream to see the abort' });
  });

  test('an upstream that dies in a stream breaks the connection and leaves a trace', async () => {
    await expect(send('cut=2', chat({ stream: true }))).rejects.toThrow();
    expect(await gateway.newest(count)).toMatchObject({
      outcome: 'upstream_error',
      response_status: 502,
      usage_status: 'estimated',
    });
  });

  test('an upstream that dies in a JSON body breaks the connection and leaves a trace', async () => {
    await expect(send('cut=1')).rejects.toThrow();
    expect(await gateway.newest(count)).toMatchObject({ outcome: 'upstream_error', response_status: 502 });
  });

  test('an upstream that dies before its response is 502 JSON and a trace', async () => {
    const response = await send('reset');
    expect([response.status, JSON.parse(response.head.toString())]).toMatchObject([502, { upstream_error: 'reset' }]);
    expect(await gateway.newest(count)).toMatchObject({ outcome: 'upstream_error', response_status: 502, model: 'gpt-4o-mini' });
  });

  test('an upstream that does not begin to respond is 504 JSON and a trace', async () => {
    const response = await send('slow=30000');
    expect([response.status, JSON.parse(response.head.toString())]).toMatchObject([
      504,
      { upstream_error: 'first_byte_timeout' },
    ]);
    expect(await gateway.newest(count)).toMatchObject({ outcome: 'timeout', response_status: 504 });
  });

  test('a stalled stream is cut and leaves a trace', async () => {
    await expect(send('stall', chat({ stream: true }))).rejects.toThrow();
    expect(await gateway.newest(count)).toMatchObject({ outcome: 'timeout', response_status: 504, usage_status: 'estimated' });
  });

  test('an error event in a stream of status 200 is an upstream error', async () => {
    expect((await send('error-in-stream', chat({ stream: true }))).status).toBe(200);
    expect(await gateway.newest(count)).toMatchObject({
      outcome: 'upstream_error',
      response_status: 200,
      usage_status: 'estimated',
    });
  });

  test('a provider error passes and is free', async () => {
    expect((await send('status=429')).status).toBe(429);
    expect(await gateway.newest(count)).toMatchObject({ outcome: 'completed', response_status: 429, cost_status: 'free' });
  });

  test('a request that the gateway refuses leaves a trace without bodies', async () => {
    const response = await rawTalk(gateway.url, 'POST /openai/v1/../x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n', (text) =>
      text.includes('}'),
    );
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(await gateway.newest(count)).toMatchObject({ outcome: 'rejected', response_status: 400, cost_status: 'free' });
  });

  test('a WebSocket upgrade is 426 JSON that names HTTP, and a trace', async () => {
    const head =
      'GET /openai/v1/realtime HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n';
    const response = await rawTalk(gateway.url, head, (text) => text.includes('}'));
    expect(response).toMatch(
      /^HTTP\/1\.1 426 Upgrade Required\r\n[\s\S]*X-Svc-Correlation-ID: \S+\r\nUpgrade: HTTP\/1\.1\r\nConnection: Upgrade\r\n[\s\S]*"error":"WebSocket connections are not served: /,
    );
    expect(await gateway.newest(count)).toMatchObject({ outcome: 'rejected', response_status: 426 });
  });
});

describe('usage is read from compressed and large bodies', () => {
  test.each([
    ['gzip', chat(), { 'accept-encoding': 'gzip' }, {}],
    ['br', chat(), { 'accept-encoding': 'br' }, {}],
    ['zstd', chat(), { 'accept-encoding': 'zstd' }, {}],
    [
      'a stream of 1.5 MB',
      chat({ stream: true, stream_options: { include_usage: true } }),
      {},
      { scenario: 'chunks=1500,chunk-bytes=1000' },
    ],
    [
      'a gzip stream of 1.5 MB',
      chat({ stream: true, stream_options: { include_usage: true } }),
      { 'accept-encoding': 'gzip' },
      { scenario: 'gzip,chunks=1500,chunk-bytes=1000' },
    ],
    ['a JSON response of 3 MB', chat(), {}, { scenario: 'chunks=3,chunk-bytes=1000000' }],
    ['a data line of 2 MB', chat({ stream: true, stream_options: { include_usage: true } }), {}, { scenario: 'huge-line' }],
  ])('%s', async (name, body, headers: Record<string, string>, { scenario }: { scenario?: string }) => {
    await send(scenario ?? name, body, headers);
    const trace = await gateway.newest(count);
    expect(trace).toMatchObject({ outcome: 'completed', usage_status: 'reported', cost_status: 'priced', model: 'gpt-4o-mini' });
    expect(trace.output_tokens).toBeGreaterThan(0);
    expect(trace.estimated_cost_usd).toBeGreaterThan(0);
  });

  test('a model named after 200 KB of messages is found', async () => {
    const body = Buffer.from(
      JSON.stringify({ messages: [{ role: 'user', content: 'x '.repeat(100_000) }], model: 'gpt-4o-mini' }),
    );
    await send('no-usage', body);
    expect(await gateway.newest(count)).toMatchObject({
      model: 'gpt-4o-mini',
      usage_status: 'estimated',
      cost_status: 'estimated',
    });
  });

  test('a body that cannot be decoded is undecodable', async () => {
    await send('bad-gzip', chat(), { 'accept-encoding': 'gzip' });
    expect(await gateway.newest(count)).toMatchObject({ usage_status: 'undecodable', outcome: 'completed' });
  });

  test('a dated model id is priced', async () => {
    await send('', chat({ model: 'gpt-4o-mini-2024-07-18' }));
    expect((await gateway.newest(count)).estimated_cost_usd).toBeGreaterThan(0);
  });
});

describe('requests to the provider', () => {
  test('the gateway key, lineage, cookies and client X-Forwarded-* are removed; all other headers are forwarded', async () => {
    const own = {
      'x-svc-gateway-key': 'sgk_canary',
      'x-svc-thread-id': 'thread-1',
      'x-svc-checkpoint-seq': '4',
      'x-svc-correlation-id': 'corr-from-client',
    };
    const headers = {
      ...own,
      cookie: 'a=b',
      'x-forwarded-for': '10.0.0.1',
      'x-stainless-lang': 'js',
      traceparent: '00-11111111111111111111111111111111-2222222222222222-01',
    };
    const response = await send('', chat(), headers);
    const sent =
      gateway.openai.received
        .at(-1)
        ?.rawHeaders.filter((_, i) => i % 2 === 0)
        .map((name) => name.toLowerCase()) ?? [];
    expect(sent.filter((name) => name.startsWith('x-svc-') || name.startsWith('x-forwarded') || name === 'cookie')).toEqual([]);
    expect(sent).toEqual(expect.arrayContaining(['authorization', 'x-stainless-lang', 'traceparent', 'x-mock-scenario']));
    expect(response.rawHeaders.join()).toContain('X-Svc-Correlation-ID,corr-from-client');
    expect(response.rawHeaders.join().toLowerCase()).not.toContain('set-cookie');
    const trace = await gateway.newest(count);
    expect(trace).toMatchObject({
      lineage: { thread_id: 'thread-1', checkpoint_seq: 4, checkpoint_id: trace.id, immutable: true },
    });
    expect(trace.metadata).toMatchObject({
      correlation_id: 'corr-from-client',
      lineage_thread_id: 'thread-1',
      lineage_checkpoint_id: trace.id,
    });
    expect(trace.request_headers['x-svc-gateway-key']).toEqual(['[REDACTED]']);
    expect(JSON.stringify(trace)).not.toContain('canary');
  });
});

test('every exchange the providers saw is a trace, and nothing was dropped', async () => {
  const { diagnostics } = (await gateway.get('/api/diagnostics/trace-pipeline')) as { diagnostics: Record<string, number> };
  expect(diagnostics).toMatchObject({
    total_dropped_total: 0,
    enqueue_accepted_total: count - 1,
    queue_depth: 0,
    body_bytes_held: 0,
  });
});
