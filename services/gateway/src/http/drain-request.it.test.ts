import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const MEBIBYTE = 1_048_576;
const PIECE = Buffer.alloc(MEBIBYTE, 'x');
const CHUNK = Buffer.concat([Buffer.from(`${MEBIBYTE.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')]);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ SVC_AUTH_ENABLED: 'true' });
});
afterAll(async () => gateway[Symbol.asyncDispose]());

/** Sends a head, and `pieces` times a piece, and then `end`; only when all of it was taken, or refused, it reads. */
async function sendAll(
  head: string,
  piece: Buffer,
  pieces: number,
  end = '',
  { url } = gateway,
): Promise<{ pieces: number; answer: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.on('error', () => {}).on('close', resolve);
  const write = (data: Buffer | string) => new Promise<boolean>((taken) => socket.write(data, (error) => taken(!error)));
  let sent = 0;
  await write(`${head}\r\n\r\n`);
  while (sent < pieces && (await write(piece))) sent += 1;
  await write(end);
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    answer += text;
    if (answer.includes('\r\n\r\n')) socket.destroy();
  });
  await closed;
  return { pieces: sent, answer };
}

const PATH = '/openai/v1/files';
const SIZED = `Content-Length: ${40 * MEBIBYTE}`;
const CHUNKED = 'Transfer-Encoding: chunked';

test.each([
  [401, 'of a stranger, of known length', `POST ${PATH} HTTP/1.1\r\nHost: a\r\n${SIZED}`, PIECE, ''],
  [401, 'of a stranger, in chunks', `POST ${PATH} HTTP/1.1\r\nHost: a\r\n${CHUNKED}`, CHUNK, '0\r\n\r\n'],
  [400, 'to no sound path, of known length', `POST /openai//v1 HTTP/1.1\r\nHost: a\r\n${SIZED}`, PIECE, ''],
  [400, 'to no sound path, in chunks', `POST /openai//v1 HTTP/1.1\r\nHost: a\r\n${CHUNKED}`, CHUNK, '0\r\n\r\n'],
])('%i to an upload %s reaches a client that sends everything before it reads', async (status, _, head, piece, end) => {
  const { pieces, answer } = await sendAll(head, piece, 40, end);
  expect([pieces, answer.slice(0, 12)]).toEqual([40, `HTTP/1.1 ${status}`]);
});

test('a refused upload without end is cut after 128 MiB and what was on its way', async () => {
  const { pieces } = await sendAll(`POST ${PATH} HTTP/1.1\r\nHost: a\r\n${CHUNKED}`, CHUNK, 1_000);
  expect(pieces).toBeGreaterThanOrEqual(128);
  expect(pieces).toBeLessThan(200);
});

test.each([
  ['of known length', SIZED, PIECE, ''],
  ['in chunks', CHUNKED, CHUNK, '0\r\n\r\n'],
])(
  'an answer that the provider gives early reaches a client that sends everything before it reads, %s',
  async (_, framing, piece, end) => {
    await using open = await startTestGateway();
    const auth = 'Authorization: Bearer sk-test-0123456789';
    const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\n${auth}\r\nX-Mock-Scenario: early\r\n${framing}`;
    const { pieces, answer } = await sendAll(head, piece, 40, end, open);
    expect([pieces, answer.slice(0, 12)]).toEqual([40, 'HTTP/1.1 200']);
  },
);
