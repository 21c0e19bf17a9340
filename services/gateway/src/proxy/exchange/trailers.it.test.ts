import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { rawTalk } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n';
/** Trailers that are never forwarded, in either direction. */
const FORBIDDEN = [
  'Authorization: Bearer sk-1',
  'X-API-Key: sk-1',
  'Connection: close',
  'Content-Encoding: gzip',
  'Content-Range: bytes 0-1/2',
  'Content-Type: text/plain',
  'Cache-Control: no-store',
  'If-None-Match: "a"',
  'Keep-Alive: timeout=5',
  'Max-Forwards: 1',
  'Range: bytes=0-1',
  'TE: trailers',
  'Trailer: X-Sum',
  'Upgrade: h2c',
  'X-Hop: 1',
];
const FORBIDDEN_IN_REQUEST = [...FORBIDDEN, 'Cookie: a=b', 'Expect: 100-continue', 'Host: evil.test', 'X-Svc-Thread-ID: t'];
/** The HTTP parser refuses a request with one of the first two. */
const FORBIDDEN_IN_RESPONSE = ['Content-Length: 9', 'Transfer-Encoding: gzip', ...FORBIDDEN].concat([
  'Date: now',
  'Location: /',
  'Retry-After: 1',
  'Set-Cookie: a=b',
  'Vary: *',
  'X-Svc-Correlation-ID: c',
]);

let opened: AsyncDisposableStack;
let gateway: TestGateway;
/** What the provider receives, and its response to a complete request. */
let received: string;
let response: string;
beforeEach(() => {
  opened = new AsyncDisposableStack();
  received = '';
  response = EMPTY;
});
afterEach(async () => opened.disposeAsync());

async function start(text = ''): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      if (/\r\n0\r\n(?:[^\r]+\r\n)*\r\n$|^(?![^]*chunked)[^]*\r\n\r\n/.test(received)) socket.end(response, 'latin1');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => void server.close());
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gateway = opened.use(await startTestGateway({ SVC_PROVIDERS_OPENAI_UPSTREAM: upstream }, text));
}

const send = (lines: string, body = '', first = 'POST /openai/v1/x HTTP/1.1') =>
  rawTalk(gateway.url, `${first}\r\nHost: a\r\nContent-Type: text/plain\r\n${lines}\r\n${body}`);
const linesOf = (all: readonly string[]) => all.map((line) => `${line}\r\n`).join('');

describe('G11.28: the trailers of a request', () => {
  const CHUNKS = 'Connection: close, X-Hop\r\nTransfer-Encoding: chunked\r\n';

  test('reach the provider as they are, with the header that announces them', async () => {
    await start();
    const trailers = 'X-Sum: caf\xe9\r\nx-twice: 1\r\nX-Twice: 2\r\nX-Empty: \r\n';
    const text = await send(`${CHUNKS}Trailer: X-Sum, x-twice\r\n`, `2\r\nhi\r\n0\r\n${trailers}\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    expect(received).toContain('\r\nTrailer: X-Sum, x-twice\r\n');
    expect(received).toMatch(/\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: caf\xe9\r\nx-twice: 1\r\nX-Twice: 2\r\nX-Empty: \r\n\r\n$/);
  });

  test('are dropped if headers of that name are, or if they may not be trailers', async () => {
    await start();
    expect(await send(CHUNKS, `2\r\nhi\r\n0\r\nX-A: 1\r\n${linesOf(FORBIDDEN_IN_REQUEST)}X-B: 2\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 200/,
    );
    expect(received).toMatch(/\r\n\r\n2\r\nhi\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n$/);
  });

  test('are dropped with their header if the body is sent with its length: an inspected one', async () => {
    await start('pii: {mode: redact_upstream}');
    expect(await send(`${CHUNKS}Trailer: X-Sum\r\n`, '2\r\nhi\r\n0\r\nX-Sum: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 200/);
    expect(received).toMatch(/\r\nContent-Length: 2\r\n\r\nhi$/);
    expect(received).not.toMatch(/trailer|X-Sum/i);
  });

  test('cannot follow a body of a known length, and nor does their header', async () => {
    await start();
    expect(await send('Connection: close\r\nContent-Length: 2\r\nTrailer: X-Sum\r\n', 'hi')).toMatch(/^HTTP\/1\.1 200/);
    expect(received).not.toMatch(/trailer/i);
  });
});

describe('G11.28: the trailers of a response', () => {
  const get = (more = '', first = 'GET /openai/v1/x HTTP/1.1') => send(`Connection: close\r\n${more}`, '', first);

  test('reach the client as they are, with the header that announces them', async () => {
    const trailers = 'X-Sum: caf\xe9\r\nx-twice: 1\r\nX-Twice: 2\r\nX-Empty: \r\n';
    response = `${CHUNKED}Trailer: X-Sum, x-twice\r\n\r\n2\r\nhi\r\n0\r\n${trailers}\r\n`;
    await start();
    const text = await get();
    expect(text).toContain('\r\nTrailer: X-Sum, x-twice\r\n');
    expect(text).toMatch(/\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: caf\xe9\r\nx-twice: 1\r\nX-Twice: 2\r\nX-Empty: \r\n\r\n$/);
    expect(await gateway.newest(1)).toMatchObject({ outcome: 'completed', response_status: 200 });
  });

  test('reach a client whose body was empty', async () => {
    response = `${CHUNKED}\r\n0\r\nX-Sum: a\r\n\r\n`;
    await start();
    expect(await get()).toMatch(/\r\n\r\n0\r\nX-Sum: a\r\n\r\n$/);
  });

  test('are dropped if headers of that name are, or if they may not be trailers', async () => {
    response = `${CHUNKED}Connection: X-Hop\r\n\r\n2\r\nhi\r\n0\r\nX-A: 1\r\n${linesOf(FORBIDDEN_IN_RESPONSE)}X-B: 2\r\n\r\n`;
    await start();
    expect(await get()).toMatch(/\r\n\r\n2\r\nhi\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n$/);
  });

  test.each([
    [
      'to HTTP/1.0',
      `${CHUNKED}Trailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: a\r\n\r\n`,
      'GET /openai/v1/x HTTP/1.0',
      /\r\n\r\nhi$/,
    ],
    ['to HEAD', `${CHUNKED}Trailer: X-Sum\r\n\r\n`, 'HEAD /openai/v1/x HTTP/1.1', /\r\n\r\n$/],
    ['with a length', EMPTY.replace('\r\n\r\n', '\r\nTrailer: X-Sum\r\n\r\n'), undefined, /\r\n\r\n$/],
    [
      'until the end of its connection',
      'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\n\r\nhi',
      undefined,
      /\r\n\r\n2\r\nhi\r\n0\r\n\r\n$/,
    ],
  ])('cannot follow one %s, and nor does their header', async (_, text, first, end) => {
    response = text;
    await start();
    const got = await get('', first);
    expect(got).toMatch(/^HTTP\/1\.1 200/);
    expect(got).toMatch(end);
    expect(got).not.toMatch(/trailer|X-Sum/i);
  });

  test.each(['no colon', ': no name', 'X Sum: a', 'X-Sum : a', 'X-Sum: a\x00', ' folded: a', 'X-Sum: a\rb'])(
    'break the response if they are malformed: %j',
    async (line) => {
      response = `${CHUNKED}\r\n2\r\nhi\r\n0\r\n${line}\r\n\r\n`;
      await start();
      expect(await get()).toMatch(/\r\n\r\n2\r\nhi\r\n$/);
      expect((await gateway.newest(1)).metadata).toMatchObject({
        upstream_error: 'malformed_response',
        upstream_error_detail: 'invalid trailer',
      });
    },
  );

  test.each([
    ['trailers', true],
    ['Trailers;q=0.5, deflate', true],
    ['deflate', false],
  ])('are asked for if the client asks for them: TE: %s', async (te, isAsked) => {
    await start();
    expect(await send(`Connection: close, TE\r\nTE: ${te}\r\n`, '', 'GET /openai/v1/x HTTP/1.1')).toMatch(/^HTTP\/1\.1 200/);
    expect(received).toContain(`\r\nConnection: keep-alive${isAsked ? ', TE\r\nTE: trailers' : ''}\r\n`);
    expect(received.match(/^te:/gim)?.length ?? 0).toBe(isAsked ? 1 : 0);
  });
});
