import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@vitrine/telemetry/logger';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { MAX_PIPELINED } from './connections/client-connections.ts';
import { respondWithScrape, serveScrape } from './serve-scrape.ts';

const HEADER = 'X-Request-Id';
const SCRAPE = { contentType: 'text/plain', body: 'up 1\n' };

let url: string;
let read: () => Promise<typeof SCRAPE>;
let server: AsyncDisposable | undefined;
beforeEach(async () => {
  read = async () => SCRAPE;
  const logger = createLogger('t', 'info', { write: (line) => void (url = (JSON.parse(line) as { url?: string }).url ?? url) });
  const scrape = { path: '/metrics', respond: respondWithScrape(() => read()) };
  server = await serveScrape(scrape, { host: '127.0.0.1', port: 0, prefix: 'T_', correlationHeader: HEADER, logger });
});
afterEach(async () => server?.[Symbol.asyncDispose]());

function talk(sent: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(sent);
  return text(socket);
}

test('the metrics have the id that the client sent', async () => {
  const response = await fetch(url, { headers: { [HEADER]: 'mine' } });
  expect([response.status, response.headers.get(HEADER), await response.text()]).toEqual([200, 'mine', SCRAPE.body]);
});

test.each([
  ['another path', '/', {}, 404],
  ['another method', '/metrics', { method: 'POST', body: 'x' }, 405],
])('%s is refused in JSON', async (_, path, init, status) => {
  const response = await fetch(new URL(path, url), init);
  expect([response.status, response.headers.get(HEADER)]).toEqual([status, expect.stringMatching(/^corr-/)]);
  expect(await response.json()).toEqual({ error: expect.any(String) });
});

test('a scrape that fails is a 500', async () => {
  read = () => Promise.reject(new Error('no'));
  expect((await fetch(url)).status).toBe(500);
});

test('a request with two Host headers is rejected', async () => {
  expect(await talk('GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
});

test('pipelined scrapes beyond the bound are rejected', async () => {
  const one = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';
  const last = 'GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  const responses = await talk(one.repeat(MAX_PIPELINED * 2) + last);
  expect(responses).toContain('HTTP/1.1 200 ');
  expect(responses).toContain('HTTP/1.1 503 ');
});
