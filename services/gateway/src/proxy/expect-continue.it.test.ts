import { afterEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TracePage } from '@vitrine/traces/trace';
import { connect, type Socket } from 'node:net';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const PATH = '/openai/v1/chat/completions';
const BODY = JSON.stringify({ model: 'gpt-4o-mini', messages: [] });
const TOKEN = 'one-token-0123456789-0123456789';
const keyOf = (id: string, role: string) =>
  `{id: ${id}, token: ${id}-token-0123456789-0123456789, org_id: a, workspace_id: b, role: ${role}}`;
const AUTH = `auth: {enabled: true, keys: [${keyOf('one', 'developer')}, ${keyOf('view', 'viewer')}]}`;
const KEY = `X-Svc-Gateway-Key: ${TOKEN}\r\n`;
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
/** Longer than a refused client may take, and shorter than any other time limit. */
const CLOSED_MS = 8_000;

let opened: AsyncDisposableStack;
let gateway: TestGateway;
const start = async (text = '', variables = {}) => {
  opened = new AsyncDisposableStack();
  gateway = opened.use(await startTestGateway(variables, text));
};
afterEach(async () => opened.disposeAsync());

/** A client connection that keeps its side open when the gateway ends the other. */
function open(): { readonly socket: Socket; readonly text: () => string; readonly ended: () => Promise<unknown> } {
  const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  opened.defer(() => void socket.destroy());
  const ended = () => waitUntil(() => socket.readableEnded, { what: 'the end of the connection', timeoutMs: CLOSED_MS });
  return { socket, text: () => text, ended };
}

const head = (lines = '', length = BODY.length, first = `POST ${PATH} HTTP/1.1`) =>
  `${first}\r\nHost: a\r\nAuthorization: Bearer sk-test-0123456789\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n${lines}\r\n`;
const until = (isTrue: () => boolean, what: string) => waitUntil(isTrue, { what });

describe('G11.29: an admitted request', () => {
  test('gets one 100 Continue, then the response to its body; its connection is kept', async () => {
    await start(AUTH);
    const { socket, text } = open();
    for (let n = 1; n <= 2; n += 1) {
      socket.write(head(KEY));
      await until(() => text().endsWith(CONTINUE), '100 Continue');
      expect(gateway.openai.exchanges).toBe(n - 1);
      socket.write(BODY);
      await until(() => text().split('"object":"chat.completion"').length === n + 1, 'the response');
    }
    expect(text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200', 'HTTP/1.1 100', 'HTTP/1.1 200']);
    expect(text()).not.toMatch(/connection: close/i);
  });

  test('that is inspected gets it, too', async () => {
    await start('pii: {mode: block}');
    const { socket, text } = open();
    socket.write(head());
    await until(() => text() === CONTINUE, '100 Continue');
    socket.write(BODY);
    await until(() => text().includes('"object":"chat.completion"'), 'the response');
  });

  test('of the admin API gets it, too', async () => {
    await start(AUTH.replace('developer', 'owner'));
    const { socket, text } = open();
    socket.write(head(KEY, 2, 'POST /api/gateway-keys HTTP/1.1'));
    await until(() => text() === CONTINUE, '100 Continue');
    socket.write('{}');
    await until(() => text().includes('HTTP/1.1 201'), 'the response');
  });
});

describe('G11.29: a refused request gets no 100 Continue, and its connection ends', () => {
  const LIMITED = `${AUTH}\nlimits: {per_key: {requests_per_minute: 1}}`;
  const cases: [string, number, string, string, string?][] = [
    ['without a key', 401, AUTH, head()],
    ['without the permission', 403, AUTH, head(KEY.replace('one', 'view'))],
    ['with a misplaced key', 401, AUTH, head(KEY).replace('sk-test-0123456789', TOKEN)],
    ['with a path that is none', 400, AUTH, head(KEY, 2, 'POST /openai//v1 HTTP/1.1')],
    ['beyond a limit', 429, LIMITED, head(KEY), `${head(KEY).replace('Expect', 'X-Not')}${BODY}`],
    ['for a WebSocket', 426, AUTH, head(`${KEY}Connection: Upgrade\r\nUpgrade: websocket\r\n`)],
    ['too large to be inspected', 413, 'pii: {mode: block}', head('', 2_000_000)],
  ];

  test.each(cases)('%s: %i', async (_, status, text, request, before = '') => {
    await start(text);
    if (before !== '') {
      const first = open();
      first.socket.write(before);
      await until(() => first.text().includes('HTTP/1.1 200'), 'the response before');
    }
    const exchanges = gateway.openai.exchanges;
    const client = open();
    client.socket.write(request);
    await client.ended();
    expect(client.text()).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} [^]*\r\nConnection: close\r\n[^]*\\{"error":"[^"]+"[^{}]*\\}$`),
    );
    expect(gateway.openai.exchanges).toBe(exchanges);
  });

  test('even if it sends its body at once, which is read: the client receives the whole response', async () => {
    await start(AUTH);
    const size = 4_000_000;
    const client = open();
    client.socket.write(head('', size));
    client.socket.write(Buffer.alloc(size));
    await client.ended();
    expect(client.text()).toMatch(/^HTTP\/1\.1 401 [^]*\{"error":"missing or invalid gateway key"\}$/);
    expect(client.socket.bytesWritten).toBeGreaterThan(size);
    expect(client.socket.errored).toBeNull();
  });

  test('and what follows its body is not served', async () => {
    await start(AUTH);
    const client = open();
    client.socket.write(`${head()}${BODY}${head(KEY)}${BODY}`);
    await client.ended();
    expect(client.text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
    expect(gateway.openai.exchanges).toBe(0);
  });

  test('and it leaves a trace', async () => {
    await start(`${AUTH}\nlimits: {per_key: {max_tokens_per_day: 1}}`);
    const get = async () => {
      const response = await fetch(`${gateway.url}/api/traces`, { headers: { 'X-Svc-Gateway-Key': TOKEN } });
      return ((await response.json()) as TracePage).items;
    };
    const headers = { Authorization: 'Bearer sk-test-0123456789', 'X-Svc-Gateway-Key': TOKEN };
    await fetch(gateway.url + PATH, { method: 'POST', body: BODY, headers });
    await waitUntil(async () => (await get()).length === 1, { what: 'the first trace' });
    const client = open();
    client.socket.write(head(KEY));
    await client.ended();
    expect(client.text()).toMatch(/^HTTP\/1\.1 429 /);
    const [trace] = await waitUntil(async () => (await get()).length === 2 && (await get()), { what: 'the trace' });
    expect(trace).toMatchObject({ response_status: 429, outcome: 'rejected' });
  });
});
