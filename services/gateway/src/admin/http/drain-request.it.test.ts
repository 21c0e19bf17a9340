import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const MEBIBYTE = 1_048_576;
const PART = Buffer.alloc(MEBIBYTE, 'x');
const CHUNK = Buffer.concat([Buffer.from(`${MEBIBYTE.toString(16)}\r\n`), PART, Buffer.from('\r\n')]);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ SVC_AUTH_ENABLED: 'true' });
});
afterAll(async () => gateway[Symbol.asyncDispose]());

/** Sends a head, a part `parts` times, and then `end`. Reads only after all of it was accepted or refused. */
async function sendAll(
  head: string,
  part: Buffer,
  parts: number,
  end = '',
  { url } = gateway,
): Promise<{ parts: number; response: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.on('error', () => {}).on('close', resolve);
  const write = (data: Buffer | string) => new Promise<boolean>((taken) => socket.write(data, (error) => taken(!error)));
  let sent = 0;
  await write(`${head}\r\n\r\n`);
  while (sent < parts && (await write(part))) sent += 1;
  await write(end);
  let response = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    response += text;
    if (response.includes('\r\n\r\n')) socket.destroy();
  });
  await closed;
  return { parts: sent, response };
}

const PATH = '/openai/v1/files';
const SIZED = `Content-Length: ${40 * MEBIBYTE}`;
const CHUNKED = 'Transfer-Encoding: chunked';

test.each([
  [401, 'without a key, of known length', `POST ${PATH} HTTP/1.1\r\nHost: a\r\n${SIZED}`, PART, ''],
  [401, 'without a key, in chunks', `POST ${PATH} HTTP/1.1\r\nHost: a\r\n${CHUNKED}`, CHUNK, '0\r\n\r\n'],
  [400, 'to an invalid path, of known length', `POST /openai//v1 HTTP/1.1\r\nHost: a\r\n${SIZED}`, PART, ''],
  [400, 'to an invalid path, in chunks', `POST /openai//v1 HTTP/1.1\r\nHost: a\r\n${CHUNKED}`, CHUNK, '0\r\n\r\n'],
])('%i to an upload %s reaches a client that sends everything before it reads', async (status, _, head, part, end) => {
  const { parts, response } = await sendAll(head, part, 40, end);
  expect([parts, response.slice(0, 12)]).toEqual([40, `HTTP/1.1 ${status}`]);
});

test('an endless rejected upload is cut after 128 MiB plus data in flight', async () => {
  const { parts } = await sendAll(`POST ${PATH} HTTP/1.1\r\nHost: a\r\n${CHUNKED}`, CHUNK, 1_000);
  expect(parts).toBeGreaterThanOrEqual(128);
  expect(parts).toBeLessThan(200);
});

test.each([
  ['of known length', SIZED, PART, ''],
  ['in chunks', CHUNKED, CHUNK, '0\r\n\r\n'],
])(
  'an early response of the provider reaches a client that sends everything before it reads, %s',
  async (_, framing, part, end) => {
    await using open = await startTestGateway();
    const auth = 'Authorization: Bearer sk-test-0123456789';
    const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\n${auth}\r\nX-Mock-Scenario: early\r\n${framing}`;
    const { parts, response } = await sendAll(head, part, 40, end, open);
    expect([parts, response.slice(0, 12)]).toEqual([40, 'HTTP/1.1 200']);
  },
);
