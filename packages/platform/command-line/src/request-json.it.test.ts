import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { requestJson } from './request-json.ts';

const RESPONSES: Readonly<Record<string, RequestListener>> = {
  '/good': (request, response) => response.end(JSON.stringify({ key: request.headers['x-key'] })),
  '/refused': (_, response) => response.writeHead(403).end('{"error":"no permission"}'),
  '/other-shape': (_, response) => response.end('{"key":1}'),
  '/page': (_, response) => response.writeHead(404).end('<html>'),
  '/redirect': (_, response) => response.writeHead(302, { location: '/good' }).end(),
  '/large': (_, response) => response.end(JSON.stringify({ key: 'x'.repeat(2 * 1_048_576) })),
  '/silent': () => {},
};

let server: Server;
let baseUrl: string;
beforeAll(async () => {
  server = createServer((request, response) => RESPONSES[request.url ?? '']?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const request = (path: string, at = baseUrl) =>
  requestJson({
    service: 'test service',
    baseUrl: at,
    path,
    headers: { 'x-key': 'k' },
    timeoutMs: path === '/silent' ? 50 : 5_000,
    shape: z.object({ key: z.string() }),
  });

test('a response of the expected schema is returned, and headers are sent', async () => {
  expect(await request('/good')).toEqual({ key: 'k' });
});

test.each([
  ['/refused', 'service_refused', 'the test service at BASE responded with 403: no permission'],
  ['/other-shape', 'service_unreachable', 'BASE did not respond like a test service (status 200)'],
  ['/page', 'service_unreachable', 'BASE did not respond like a test service (status 404)'],
  ['/redirect', 'service_unreachable', 'BASE did not respond like a test service (status 302)'],
  ['/large', 'service_unreachable', 'no test service reached at BASE: the response is larger than 1048576 bytes'],
  ['/silent', 'service_unreachable', 'no test service reached at BASE: The operation was aborted due to timeout'],
])('%s is the fault %s', async (path, code, message) => {
  await expect(request(path)).rejects.toMatchObject({ code, message: message.replace('BASE', baseUrl) });
});

test('a refused connection is a fault with the reason of the system', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const message = `no test service reached at http://127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`;
  await expect(request('/good', `http://127.0.0.1:${port}`)).rejects.toMatchObject({ code: 'service_unreachable', message });
});
