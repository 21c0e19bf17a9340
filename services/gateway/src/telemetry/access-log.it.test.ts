import { describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { connect } from 'node:net';
import { request as httpRequest } from 'node:http';
import { rawTalk } from '../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

type Line = Readonly<Record<string, unknown>>;
/** All lines except that of the test gateway's own first request. */
const linesOf = ({ log }: TestGateway): Line[] =>
  log.map((line) => JSON.parse(line) as Line).filter(({ msg, path }) => msg === 'request ended' && path !== '/api/openapi.json');
const until = (gateway: TestGateway, count: number) =>
  waitUntil(() => linesOf(gateway).length >= count && linesOf(gateway), { what: `${count} lines of the access log` });

const TOKEN = 'ogk_0123456789abcdef0123456789';
const KEYS = `auth: { enabled: true, keys: [{ id: k1, token: ${TOKEN}, org_id: acme, workspace_id: search, role: developer }] }`;
const CHAT = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] });
const chat = (gateway: TestGateway, headers: Readonly<Record<string, string>> = {}, path = '/openai/v1/chat/completions') =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json', ...headers },
    body: CHAT,
  });

describe('log.access: one line for each request when its response has ended', () => {
  test('of the proxy: caller, request, result, duration and size', async () => {
    await using gateway = await startTestGateway({ SVC_LOG_ACCESS: 'true' }, KEYS);
    const response = await chat(gateway, { 'x-svc-gateway-key': TOKEN, 'x-request-id': 'mine-1' });
    const body = await response.arrayBuffer();
    expect(await until(gateway, 1)).toEqual([
      expect.objectContaining({
        level: 'info',
        msg: 'request ended',
        method: 'POST',
        path: '/openai/v1/chat/completions',
        status: 200,
        outcome: 'completed',
        latency_ms: expect.any(Number),
        bytes_in: CHAT.length,
        bytes_out: body.byteLength,
        provider: 'openai',
        org_id: 'acme',
        workspace_id: 'search',
        gateway_key_id: 'k1',
        correlation_id: 'mine-1',
      }),
    ]);
  });

  test('of the admin API, with the id of the response, and of requests without a route', async () => {
    await using gateway = await startTestGateway({ SVC_LOG_ACCESS: 'true' });
    const response = await fetch(`${gateway.url}/api/traces?limit=5`);
    const text = await response.text();
    const created = await fetch(`${gateway.url}/api/traces/nothing/fork`, { method: 'POST', body: '{"run_id":"r"}' });
    await created.text();
    await (await fetch(`${gateway.url}/nowhere`)).text();
    await fetch(`${gateway.url}/api/health`, { method: 'HEAD' });
    const lines = await until(gateway, 4);
    expect(lines).toMatchObject([
      {
        method: 'GET',
        path: '/api/traces?limit=5',
        status: 200,
        outcome: 'completed',
        bytes_in: 0,
        bytes_out: text.length,
        correlation_id: response.headers.get('x-svc-correlation-id'),
      },
      { method: 'POST', path: '/api/traces/nothing/fork', status: 404, bytes_in: 14 },
      { method: 'GET', path: '/nowhere', status: 404, outcome: 'completed' },
      { method: 'HEAD', path: '/api/health', status: 200, bytes_out: 0 },
    ]);
    expect(lines.every((line) => !('provider' in line))).toBe(true);
  });

  test('of rejected requests: without a key, malformed, and unparsable', async () => {
    await using gateway = await startTestGateway({ SVC_LOG_ACCESS: 'true' }, KEYS);
    const refused = await chat(gateway);
    await refused.text();
    await (await fetch(`${gateway.url}/api/traces`)).text();
    await rawTalk(gateway.url, 'GET /openai/../v1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await rawTalk(gateway.url, 'NONSENSE\r\n\r\n');
    await rawTalk(gateway.url, 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n');
    await rawTalk(gateway.url, 'POST /openai/v1 HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n');
    const lines = await until(gateway, 6);
    expect(lines).toMatchObject([
      { status: 401, outcome: 'rejected', provider: 'openai', correlation_id: refused.headers.get('x-svc-correlation-id') },
      { status: 401, outcome: 'rejected', path: '/api/traces' },
      { status: 400, outcome: 'rejected', method: 'GET', path: '/openai/../v1' },
      { status: 400, outcome: 'rejected', correlation_id: expect.stringMatching(/^corr-/) },
      { status: 405, outcome: 'rejected', method: 'CONNECT', path: 'example.com:443' },
      { status: 417, outcome: 'rejected', method: 'POST', path: '/openai/v1' },
    ]);
    expect(lines.every((line) => !('gateway_key_id' in line))).toBe(true);
  });

  test('of a request whose client leaves: 499 with the bytes sent', async () => {
    await using gateway = await startTestGateway({ SVC_LOG_ACCESS: 'true' });
    const headers = { 'content-type': 'application/json', 'x-mock-scenario': 'stall', authorization: 'Bearer sk-x-0123456789' };
    const request = httpRequest(`${gateway.url}/openai/v1/chat/completions`, { method: 'POST', headers });
    request.on('error', () => {});
    request.end(CHAT);
    await waitUntil(() => gateway.openai.exchanges > 0, { what: 'the request at the provider' });
    request.destroy();
    const [line] = await until(gateway, 1);
    expect(line).toMatchObject({ status: 499, outcome: 'client_closed', bytes_in: CHAT.length });
  });

  test('contains no credential and no gateway key, wherever in the path it was', async () => {
    await using gateway = await startTestGateway({ SVC_LOG_ACCESS: 'true' }, KEYS);
    await (
      await chat(gateway, { 'x-svc-gateway-key': TOKEN }, '/openai/v1/models/sk-proj-abcdef123456?api_key=hunter2&x=1')
    ).text();
    const [line] = await until(gateway, 1);
    expect(line?.['path']).toBe('/openai/v1/models/[REDACTED]?api_key=[REDACTED]&x=1');
    expect(gateway.log.join('')).not.toMatch(/hunter2|abcdef123456|ogk_0123/);
  });

  test('is written at every log.level, with one line for each request of a connection', async () => {
    await using gateway = await startTestGateway({ SVC_LOG_ACCESS: 'true', SVC_LOG_LEVEL: 'warn' });
    const { port } = new URL(gateway.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.resume();
    const once = 'GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n';
    socket.write(once + once + once);
    const lines = await until(gateway, 3);
    socket.destroy();
    expect(lines.map(({ path, status }) => [path, status])).toEqual([0, 1, 2].map(() => ['/api/health', 200]));
    expect(new Set(lines.map(({ correlation_id: id }) => id)).size).toBe(3);
  });

  test('with spans on, a line carries the ids of its request', async () => {
    const variables = {
      SVC_LOG_ACCESS: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_METRICS_EXPORTER: 'none',
    };
    await using gateway = await startTestGateway(variables);
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    await (await chat(gateway, { traceparent })).text();
    await (await fetch(`${gateway.url}/api/health`, { headers: { traceparent } })).text();
    const lines = await until(gateway, 2);
    for (const line of lines)
      expect(line).toMatchObject({ trace_id: 'ab'.repeat(16), span_id: expect.stringMatching(/^[0-9a-f]{16}$/) });
  });

  test('it is off by default', async () => {
    await using gateway = await startTestGateway();
    await (await chat(gateway)).text();
    await gateway.traces(1);
    expect(linesOf(gateway)).toEqual([]);
  });
});
