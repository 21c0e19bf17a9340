import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { ClientRequest } from './client-request.ts';

const builtInHeaders = Object.getOwnPropertyDescriptor(IncomingMessage.prototype, 'headers');
const server = createServer({ IncomingMessage: ClientRequest, requireHostHeader: false });

beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => void server.close());

/** The headers of a request with these header lines, and the headers parsed by Node. */
async function headersOf(lines: readonly string[]): Promise<[headers: IncomingHttpHeaders, expected: IncomingHttpHeaders]> {
  const { port } = server.address() as AddressInfo;
  const received = once(server, 'request') as Promise<[IncomingMessage]>;
  const socket = connect(port, '127.0.0.1', () => socket.end(['GET / HTTP/1.1', ...lines, '\r\n'].join('\r\n'), 'latin1'));
  const [request] = await received;
  socket.destroy();
  return [request.headers, builtInHeaders?.get?.call(request) as IncomingHttpHeaders];
}

test.each([
  ['none', []],
  ['of one occurrence each', ['Host: a', 'content-TYPE: application/json', 'X-A: 1', 'x-b:', 'accept: \xe9']],
  ['that are lists', ['X-A: 1', 'x-a: 2', 'X-A:', 'Accept: a', 'accept: b']],
  ['that are empty and repeated', ['X-A:', 'x-a: 2']],
  [
    'of which only the first counts',
    ['Content-Type: a', 'content-type: b', 'Authorization: a', 'authorization: b', 'Host: a', 'host: b'],
  ],
  ['of cookies', ['Cookie: a=1', 'cookie: b=2', 'Set-Cookie: a']],
  ['with a single Set-Cookie', ['Set-Cookie: a']],
  ['named like what every object has', ['constructor: a', '__proto__: b', 'toString: c', 'valueof: d']],
])('headers %s equal those of Node', async (_, lines) => {
  const [headers, expected] = await headersOf(lines);
  expect(headers).toEqual(expected);
  expect(Object.keys(headers)).toEqual(Object.keys(expected));
});

test('headers can be replaced, and are the same object at every read', async () => {
  const received = once(server, 'request') as Promise<[IncomingMessage]>;
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1', () => socket.end('GET / HTTP/1.1\r\nX-A: 1\r\n\r\n'));
  const [request] = await received;
  socket.destroy();
  expect(request.headers).toBe(request.headers);
  request.headers = { 'x-b': '2' };
  expect(request.headers).toEqual({ 'x-b': '2' });
});
