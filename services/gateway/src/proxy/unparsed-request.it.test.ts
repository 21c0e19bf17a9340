import { afterEach, describe, expect, test } from '@jest/globals';
import type { TraceDetail, TracePage, TraceSummary } from '@vitrine/traces/trace';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { rawTalk } from '../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const PATH = '/openai/v1/chat/completions';
const TOKEN = 'one-token-0123456789-0123456789';
const KEY = `{id: one, token: ${TOKEN}, org_id: acme, workspace_id: search, role: developer}`;
const SECRET = 'sk-test-0123456789';
const LARGE = `X-Large: ${'a'.repeat(20_000)}\r\n`;
const request = (lines: string, first = `POST ${PATH} HTTP/1.1`) =>
  `${first}\r\nHost: gateway.test\r\nAuthorization: Bearer ${SECRET}\r\n${lines}\r\n`;

let gateway: TestGateway;
afterEach(async () => gateway[Symbol.asyncDispose]());

const statusOf = (response: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(response)?.[1]);
const correlationOf = (response: string) => /X-Svc-Correlation-ID: (\S+)/.exec(response)?.[1];
const send = (text: string) => rawTalk(gateway.url, text);

async function get<T>(path: string): Promise<T> {
  return (await (await fetch(gateway.url + path, { headers: { 'x-svc-gateway-key': TOKEN } })).json()) as T;
}
/** Sends a marker exchange, waits for its trace, and returns all traces before it. */
async function tracesBeforeMarker(): Promise<TraceSummary[]> {
  await send(
    request(`X-Svc-Gateway-Key: ${TOKEN}\r\nConnection: close\r\nContent-Length: 0\r\n`, 'POST /openai/v1/marker HTTP/1.1'),
  );
  return waitUntil(
    async () => {
      const { items } = await get<TracePage>('/api/traces?limit=200');
      return items[0]?.request_path === '/openai/v1/marker' && items.slice(1);
    },
    { what: 'the marker' },
  );
}

describe('a request below a provider prefix that the HTTP parser refuses leaves a rejected trace', () => {
  test.each([
    ['too large a header', 431, request(LARGE), 'POST', PATH],
    ['too long a path', 431, `GET /openai/${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 'GET', /^\/openai\/a{2040}$/],
    ['a header that is none', 400, request('no colon\r\n'), 'POST', PATH],
    ['two lengths', 400, request('Content-Length: 1\r\nContent-Length: 2\r\n'), 'POST', PATH],
    ['an unknown expectation', 417, request('Expect: miracles\r\nContent-Length: 0\r\n'), 'POST', PATH],
  ])('%s: %i', async (_, status, text, method, path) => {
    gateway = await startTestGateway();
    const response = await send(text);
    expect([statusOf(response), response.includes('"error"')]).toEqual([status, true]);
    const [trace, ...more] = await tracesBeforeMarker();
    expect(more).toEqual([]);
    expect(trace).toMatchObject({
      response_status: status,
      outcome: 'rejected',
      provider: 'openai',
      request_method: method,
      request_path: typeof path === 'string' ? path : expect.stringMatching(path),
    });
    const detail = await get<TraceDetail>(`/api/traces/${trace?.id}`);
    expect(detail.metadata['correlation_id']).toBe(correlationOf(response));
    expect(detail.metadata).toMatchObject({ org_id: 'default', workspace_id: 'default' });
    expect(gateway.openai.exchanges).toBe(1);
  });

  test('the trace hides a credential in the path', async () => {
    gateway = await startTestGateway();
    await send(`GET /openai/v1/models?api_key=${SECRET} HTTP/1.1\r\nHost: a\r\n${LARGE}\r\n`);
    const [trace] = await tracesBeforeMarker();
    expect(trace?.request_path).toBe('/openai/v1/models?api_key=[REDACTED]');
  });

  test('a malformed body is recorded in the trace of its request', async () => {
    gateway = await startTestGateway();
    expect(statusOf(await send(request('Transfer-Encoding: chunked\r\n').concat('nonsense\r\n')))).toBe(400);
    const traces = await tracesBeforeMarker();
    expect(traces.map(({ response_status: status, outcome }) => [status, outcome])).toEqual([[400, 'rejected']]);
  });
});

describe('G11.30: HTTP/2 by prior knowledge', () => {
  const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
  const SETTINGS = '\0\0\0\x04\0\0\0\0\0';
  const isRefused = (response: string) => {
    const [head = '', body = ''] = response.split('\r\n\r\n');
    expect(head).toMatch(
      /^HTTP\/1\.1 505 HTTP Version Not Supported\r\nContent-Type: application\/json\r\n[^]*\r\nConnection: close$/,
    );
    expect(JSON.parse(body)).toEqual({ error: 'HTTP/2 is not served: send HTTP/1.1' });
  };

  test('gets 505 in JSON over HTTP/1.1, and its connection ends', async () => {
    gateway = await startTestGateway();
    isRefused(await send(PREFACE + SETTINGS));
    expect(await tracesBeforeMarker()).toEqual([]);
  });

  test('gets it after the responses to earlier requests', async () => {
    gateway = await startTestGateway();
    const response = await send(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${PREFACE}${SETTINGS}`);
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
    isRefused(response.slice(response.indexOf('HTTP/1.1 505')));
  });

  test('leaves an HTTP/2 client with an error at once', async () => {
    gateway = await startTestGateway();
    const session = connectHttp2(gateway.url);
    const [error] = (await once(session, 'error')) as [Error];
    expect(error.message).toMatch(/protocol error/i);
    session.destroy();
  });
});

describe('no trace, but a response,', () => {
  test.each([
    ['of what is no provider, too large', 431, `GET /api/traces HTTP/1.1\r\nHost: a\r\n${LARGE}\r\n`],
    ['of what is no provider, with an expectation', 417, 'GET /api/traces HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n'],
    ['of what has no request line', 400, 'hello\r\n\r\n'],
    ['of a path that only looks like a provider', 431, `GET /openaiX HTTP/1.1\r\nHost: a\r\n${LARGE}\r\n`],
  ])('%s: %i', async (_, status, text) => {
    gateway = await startTestGateway();
    expect(statusOf(await send(text))).toBe(status);
    expect(await tracesBeforeMarker()).toEqual([]);
  });

  test('for a head whose request line came in a separate packet: the log has the reason and the next step', async () => {
    gateway = await startTestGateway();
    const { hostname, port } = new URL(gateway.url);
    const socket = connect({ port: Number(port), host: hostname, noDelay: true });
    await once(socket, 'connect');
    socket.write(`POST ${PATH} HTTP/1.1\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    socket.write(`Host: a\r\n${LARGE}\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(statusOf(first.toString())).toBe(431);
    socket.destroy();
    expect(await tracesBeforeMarker()).toEqual([]);
    const line = gateway.log.map((text) => JSON.parse(text) as object).find((one) => 'reason' in one);
    expect(line).toMatchObject({
      msg: 'requests could not be parsed',
      reason: 'header_overflow',
      status: 431,
      count: 1,
      remote_address: '127.0.0.1',
      correlation_id: correlationOf(first.toString()),
      next_step: expect.stringMatching(/16 KiB.*docs\/failure-modes\.md#/),
    });
  });
});

describe('with authentication on', () => {
  const start = async () => (gateway = await startTestGateway({}, `auth: {enabled: true, keys: [${KEY}]}`));
  const key = `X-Svc-Gateway-Key: ${TOKEN}\r\n`;
  const unkept = async () =>
    (await get<{ diagnostics: { rejections_unkept_total: number } }>('/api/diagnostics/trace-pipeline')).diagnostics
      .rejections_unkept_total;

  test('a rejected expectation is traced for its key, or anonymously without one', async () => {
    await start();
    expect(statusOf(await send(request(`${key}Expect: miracles\r\nContent-Length: 0\r\n`)))).toBe(417);
    expect(statusOf(await send(request('Expect: miracles\r\nContent-Length: 0\r\n')))).toBe(417);
    const traces = await tracesBeforeMarker();
    // The anonymous one belongs to no tenant.
    expect(traces.map(({ response_status: status }) => status)).toEqual([417]);
    expect((await get<TraceDetail>(`/api/traces/${traces[0]?.id}`)).metadata['gateway_key_id']).toBe('one');
  });

  test('a head that cannot be parsed is anonymous, and ten anonymous ones a second are traced', async () => {
    await start();
    const before = (await get<{ trace_count: number }>('/api/health')).trace_count;
    const responses = await Promise.all(Array.from({ length: 60 }, () => send(request(key + LARGE))));
    expect(responses.filter((response) => statusOf(response) !== 431)).toEqual([]);
    expect(await tracesBeforeMarker()).toEqual([]);
    const kept = (await get<{ trace_count: number }>('/api/health')).trace_count - before - 1;
    expect(kept).toBeGreaterThanOrEqual(10);
    expect(kept + (await unkept())).toBe(60);
    expect(await unkept()).toBeGreaterThan(0);
  });

  test('rejections without a provider do not count against that rate', async () => {
    await start();
    await Promise.all(Array.from({ length: 30 }, () => send('GET //nowhere HTTP/1.1\r\nHost: a\r\n\r\n')));
    expect(await unkept()).toBe(0);
  });
});
