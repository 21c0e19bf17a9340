import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { ClientConnections, createCloseCounts } from '@vitrine/http-api/connections/client-connections';
import { ClientResponse } from '@vitrine/http-api/connections/client-response';
import { plainRejections } from '@vitrine/http-api/rejection';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { rawTalk } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const AUTH = 'Host: gateway.test\r\nAuthorization: Bearer sk-test-0123456789\r\nContent-Type: application/json\r\n';
const CONNECT = 'CONNECT api.openai.com:443 HTTP/1.1\r\nHost: api.openai.com:443\r\n\r\n';
const MAX_CONNECTIONS = 30;

let opened: AsyncDisposableStack;
let gateway: TestGateway;
let uncaught: unknown[];
const sawUncaught = (error: unknown) => uncaught.push(error);
beforeEach(async () => {
  opened = new AsyncDisposableStack();
  gateway = opened.use(await startTestGateway({ SVC_SERVER_MAX_CONNECTIONS: String(MAX_CONNECTIONS) }));
  uncaught = [];
  process.on('uncaughtException', sawUncaught);
});
afterEach(async () => {
  await opened.disposeAsync();
  process.off('uncaughtException', sawUncaught);
  expect(uncaught).toEqual([]);
  expect(gateway.log.filter((line) => line.includes('shutdown step'))).toEqual([]);
});

const chat = (scenario = '', stream = false) => {
  const body = JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: 'hi' }] });
  return `POST /openai/v1/chat/completions HTTP/1.1\r\n${AUTH}X-Mock-Scenario: ${scenario}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function open(text: string): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  // A client that keeps its half of the connection open after the gateway has closed its own.
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(text, 'latin1');
  return socket;
}

const isHealthy = () =>
  waitUntil(
    async () => {
      const response = await fetch(`${gateway.url}/api/health`, {
        signal: AbortSignal.timeout(500),
        headers: { connection: 'close' },
      });
      return response.ok;
    },
    { what: 'health to respond', timeoutMs: 8_000 },
  );

describe('a socket that Node detaches from its HTTP server', () => {
  test.each([
    ['CONNECT, and the client leaves', CONNECT, (socket: Socket) => void socket.once('data', () => socket.destroy())],
    ['CONNECT, and the client stays', CONNECT, (socket: Socket) => socket.resume()],
    ['CONNECT, and the client resets', CONNECT, (socket: Socket) => socket.resetAndDestroy()],
    ['CONNECT, and the client goes on sending', `${CONNECT}${'x'.repeat(100_000)}`, (socket: Socket) => socket.resume()],
    ['garbage, and the client stays', 'garbage\r\n\r\n', (socket: Socket) => socket.resume()],
    ['garbage, and the client leaves', 'garbage\r\n\r\n', (socket: Socket) => socket.destroy()],
    ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', (socket: Socket) => socket.resume()],
  ])(
    'is closed within seconds: %s',
    async (_name, text, afterwards) => {
      const sockets = await Promise.all(Array.from({ length: MAX_CONNECTIONS }, () => open(text)));
      for (const socket of sockets) afterwards(socket);
      await isHealthy();
      for (const socket of sockets) socket.destroy();
    },
    15_000,
  );

  test('gets 405 JSON for a CONNECT', async () => {
    const response = await rawTalk(gateway.url, CONNECT);
    expect(response).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
    expect(response).toContain('{"error":"method not allowed"}');
  });

  test('does not hold up the shutdown', async () => {
    const sockets = await Promise.all(Array.from({ length: 5 }, () => open(CONNECT)));
    for (const socket of sockets) socket.pause();
    const before = performance.now();
    await opened.disposeAsync();
    expect(performance.now() - before).toBeLessThan(4_000);
    for (const socket of sockets) socket.destroy();
  });
});

describe('after a request whose response is in progress', () => {
  const behind: [string, string][] = [
    ['a CONNECT', CONNECT],
    ['garbage', 'garbage\r\n\r\n'],
    ['a head that is too large', `GET / HTTP/1.1\r\nX-Large: ${'a'.repeat(20_000)}\r\n\r\n`],
  ];
  test.each(behind)('%s leaves that response complete, and the connection is closed after it', async (_name, extra) => {
    const response = await rawTalk(gateway.url, chat('slow=100,chunks=20', true) + extra);
    expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(response.split('HTTP/1.1 200')).toHaveLength(2);
    expect(response).toMatch(/data: \[DONE\]\n\n\r\n0\r\n\r\n(?:HTTP\/1\.1 4\d\d |$)/);
  });

  test.each(behind)('%s that arrives during a stream does not appear in the stream', async (_name, extra) => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname, () => socket.write(chat('chunks=2000,chunk-bytes=200', true)));
    socket.setEncoding('latin1').on('error', () => {});
    let response = '';
    socket.on('data', (text: string) => {
      if (response === '') socket.write(extra);
      response += text;
    });
    await once(socket, 'close');
    expect(response.match(/"delta":\{"content"/g)).toHaveLength(2_000);
    expect(response).toMatch(/data: \[DONE\]\n\n\r\n0\r\n\r\n(?:HTTP\/1\.1 4\d\d |$)/);
  });

  test.each(behind)(
    '%s, when the client resets, leaves a trace of every request and nothing to shut down',
    async (_name, extra) => {
      const socket = await open(chat('slow=200') + chat('endless', true) + chat('slow=5000') + extra);
      await waitUntil(() => gateway.openai.exchanges === 3, { what: 'all three to be under way' });
      socket.resetAndDestroy();
      const traces = await gateway.traces(3);
      expect(traces.map(({ outcome }) => outcome)).toEqual(['client_closed', 'client_closed', 'client_closed']);
    },
  );
});

describe('a request with Expect: 100-continue', () => {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [] });
  const expecting = `POST /openai/v1/chat/completions HTTP/1.1\r\n${AUTH}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;

  test('gets its 100 before its final response', async () => {
    const response = await rawTalk(gateway.url, expecting + body, (text) => text.includes('chat.completion"'));
    expect(response).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  test.each(['', 'slow=100', 'chunks=3'])('never gets it inside a response when it is pipelined (%s)', async (scenario) => {
    const response = await rawTalk(gateway.url, chat(scenario) + expecting + body + chat());
    const heads = response.match(/HTTP\/1\.1 \d{3}/g);
    expect(heads?.filter((head) => head.endsWith('200')).length).toBeGreaterThanOrEqual(2);
    expect(response).not.toMatch(/\r\n\r\nHTTP\/1\.1 100/);
    expect(response.match(/"object":"chat\.completion"/g)).toHaveLength(heads?.length ?? 0);
  });
});

test('open and closed connections are counted by reason, from 0 on', async () => {
  await using scraped = await startTestGateway({ SVC_PROMETHEUS_ENABLED: 'true', SVC_SERVER_MAX_CONNECTIONS: '3' });
  const closed = async (): Promise<Record<string, number>> => {
    const text = await (await fetch(`${scraped.url}/metrics`, { headers: { connection: 'close' } })).text();
    const counts = [...text.matchAll(/^svc_server_connections_closed_total\{[^}]*reason="(\w+)"[^}]*\} (\d+)/gm)];
    return Object.fromEntries(counts.map(([, reason = '', count]): [string, number] => [reason, Number(count)]));
  };
  const none = { ...createCloseCounts() };
  expect(await closed()).toEqual(none);
  await rawTalk(scraped.url, CONNECT);
  await rawTalk(scraped.url, 'garbage\r\n\r\n');
  await rawTalk(scraped.url, `GET / HTTP/1.1\r\nX-Large: ${'a'.repeat(20_000)}\r\n\r\n`);
  const { port } = new URL(scraped.url);
  const held = Array.from({ length: 3 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
  await Promise.all(held.map((socket) => once(socket, 'connect')));
  const refused = connect(Number(port), '127.0.0.1').on('error', () => {});
  await once(refused, 'close');
  for (const socket of held) socket.destroy();
  const expected = { ...none, connect_method: 1, malformed_request: 1, header_overflow: 1 };
  await waitUntil(async () => closed().catch(() => undefined), { what: 'a free connection' });
  const { connection_limit: refusals, ...others } = await closed();
  expect(refusals).toBeGreaterThanOrEqual(1);
  expect({ ...others, connection_limit: 0 }).toEqual(expected);
});

describe('connections that a client may keep open', () => {
  const DRIP_MS = 200;
  const BOUND_MS = 15_000;
  const upload = `POST /openai/v1/files HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n`;

  test('without a key a connection ends within 15 s on every listener, however slowly it sends', async () => {
    const metricsPort = await freePort();
    await using strict = await startTestGateway({
      SVC_AUTH_ENABLED: 'true',
      SVC_PROMETHEUS_ENABLED: 'true',
      SVC_OBSERVABILITY_OTEL_PROMETHEUS_PORT: String(metricsPort),
    });
    const ports = [Number(new URL(strict.url).port), metricsPort];
    const began = ['', 'GET / HT', 'GET /metrics HTTP/1.1\r\nHost: a\r\nX: ', upload, upload.replace('POST', 'GET'), CONNECT];
    const held = await Promise.all(
      ports.flatMap((port) => began.map(async (text) => [port, text, await heldFor(port, text)] as const)),
    );
    expect(held.filter(([, , ms]) => ms > BOUND_MS)).toEqual([]);
  }, 60_000);

  async function heldFor(port: number, text: string): Promise<number> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {}).resume();
    const before = performance.now();
    await once(socket, 'connect');
    socket.write(text);
    const drip = setInterval(() => text !== '' && socket.write('x'), DRIP_MS);
    // Not `once` of node:events, which rejects for a connection that ends by a reset.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const given = setTimeout(() => socket.destroy(), 2 * BOUND_MS);
    // The half that the server closes is enough: the server counts its connection as ended when the client's half is reset.
    socket.once('end', () => socket.end());
    await closed;
    clearInterval(drip);
    clearTimeout(given);
    return performance.now() - before;
  }

  test('a response is cut when its client does not read it, but not when it waits for the provider', async () => {
    const server = createServer({ ServerResponse: ClientResponse });
    using connections = new ClientConnections(server, plainRejections('X-Correlation-ID'), 300);
    const { promise: waited, resolve } = Promise.withResolvers<void>();
    server.on('request', (request: IncomingMessage, response: ClientResponse) => {
      connections.begin(request, response);
      response.write(Buffer.alloc(request.url === '/large' ? 64 * 1_048_576 : 1_000));
      if (request.url === '/waits') void waited.then(() => response.end('the end'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const stalled = connect(port, '127.0.0.1', () => stalled.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n'));
    stalled.on('error', () => {}).pause();
    let text = '';
    const patient = connect(port, '127.0.0.1', () => patient.write('GET /waits HTTP/1.1\r\nHost: a\r\n\r\n'));
    patient.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    await waitUntil(() => connections.closed.client_stalled === 1 && connections.size === 1, {
      what: 'the stalled one to be cut',
    });
    resolve();
    await waitUntil(() => text.includes('the end'), { what: 'the end of the other' });
    stalled.destroy();
    patient.destroy();
    server.close();
  });

  test('requests beyond the hundred that wait on one connection get 503, each with a trace', async () => {
    const many = Array.from({ length: 150 }, (_, i) => chat(i === 0 ? 'slow=300' : '')).join('');
    const response = await rawTalk(gateway.url, `${many}GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const statuses = [...response.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
    expect(statuses.length).toBe(151);
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThanOrEqual(40);
    expect(gateway.openai.exchanges).toBeLessThanOrEqual(110);
    expect(await gateway.traces(150)).toHaveLength(150);
  });
});
