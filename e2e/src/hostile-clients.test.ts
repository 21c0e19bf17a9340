import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import type { MockProvider } from '@vitrine/testkit/mock-provider';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import fc from 'fast-check';
import { chat } from './client-load.ts';
import { rawExchange, readResponses, type RawExchangeOptions, type WireResponse } from './raw-exchange.ts';
import { startGateway, type RunningGateway } from './running-gateway.ts';

/** The same cases in every run; run other seeds manually, not in a pipeline. */
const SEED = 20_260_314;
const RUNS = 400;

let upstream: MockProvider;
let gateway: RunningGateway;
let opened: AsyncDisposableStack;
beforeAll(async () => {
  opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder('hostile'));
  upstream = opened.use(await startMockOpenai());
  gateway = opened.use(await startGateway({ folder: folder.path, upstream: upstream.url }));
});
afterAll(async () => opened.disposeAsync());

const PATH = '/openai/v1/chat/completions';
const BODY = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] });
const AUTH = 'Host: gateway.test\r\nAuthorization: Bearer sk-test-0123456789\r\nContent-Type: application/json\r\n';
/** A request with these header lines (each ended by CRLF) and this body, unchanged. */
const request = (lines: string, body = '', first = `POST ${PATH} HTTP/1.1`) => `${first}\r\n${AUTH}${lines}\r\n${body}`;
const sound = (lines = '') => request(`Content-Length: ${BODY.length}\r\n${lines}`, BODY);
/** A request inside another one's body: it must never be treated as one. */
const SMUGGLED = `POST /openai/v1/smuggled HTTP/1.1\r\n${AUTH}Content-Length: 0\r\n\r\n`;

/** What the client got; every error response that carries a body must be JSON. */
async function send(bytes: string | Uint8Array, options?: RawExchangeOptions): Promise<WireResponse[]> {
  const responses = readResponses(await rawExchange(gateway.port, bytes, options));
  for (const response of responses) expectJsonError(response);
  return responses;
}

function expectJsonError({ status, headers, body, isWhole }: WireResponse): void {
  if (status < 400 || body === '' || !isWhole) return;
  expect({ status, type: headers['content-type'] }).toEqual({ status, type: expect.stringMatching(/^application\/json/) });
  expect(JSON.parse(body)).toMatchObject({ error: expect.anything() });
}

/** Whether the first response has arrived; servers may leave the connection open after it. */
const isResponded = (text: string) => readResponses(text)[0]?.isWhole === true;

const expectHealthy = async () => {
  expect(gateway.process.isRunning).toBe(true);
  expect((await gateway.health()).status).toBe('ok');
  expect((await chat(gateway.url, { model: 'still-serving' })).status).toBe(200);
  expect(upstream.received.map(({ url }) => url).filter((url) => url.includes('smuggled'))).toEqual([]);
};

describe('requests that could be read in two ways are refused in JSON and reach no provider', () => {
  const both = `Content-Length: ${SMUGGLED.length + 5}\r\nTransfer-Encoding: chunked\r\n`;
  const chunked = 'Transfer-Encoding: chunked\r\n';
  test.each<[string, string | Buffer, number?]>([
    ['content-length and transfer-encoding', request(both, `0\r\n\r\n${SMUGGLED}`)],
    ['transfer-encoding and content-length', request(`${chunked}Content-Length: 4\r\n`, `0\r\n\r\n${SMUGGLED}`)],
    ['two content-lengths that differ', request(`Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n`, SMUGGLED)],
    ['two content-lengths in one line', request(`Content-Length: 0, ${SMUGGLED.length}\r\n`, SMUGGLED)],
    ['a negative content-length', request('Content-Length: -1\r\n', SMUGGLED)],
    ['a content-length with a sign', request('Content-Length: +0\r\n', SMUGGLED)],
    ['a content-length in hex', request('Content-Length: 0x10\r\n', SMUGGLED)],
    ['a content-length beyond 64 bits', request('Content-Length: 18446744073709551616\r\n', SMUGGLED)],
    ['a chunk size that is no number', request(chunked, `xyz\r\n${SMUGGLED}`)],
    ['a negative chunk size', request(chunked, `-1\r\n${SMUGGLED}`)],
    ['a chunk size beyond 64 bits', request(chunked, `1${'0'.repeat(16)}\r\n${SMUGGLED}`)],
    ['a chunk longer than its size', request(chunked, `3\r\nabcdef\r\n0\r\n\r\n${SMUGGLED}`)],
    ['an unknown transfer coding at the end', request('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${SMUGGLED}`)],
    ['a transfer coding that is not decoded', request('Transfer-Encoding: gzip, chunked\r\n', `0\r\n\r\n${SMUGGLED}`)],
    ['chunked twice', request('Transfer-Encoding: chunked, chunked\r\n', `0\r\n\r\n${SMUGGLED}`)],
    ['chunks in HTTP/1.0', request(chunked, `0\r\n\r\n`, `POST ${PATH} HTTP/1.0`)],
    ['an unknown transfer coding alone', request('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${SMUGGLED}`)],
    ['a space before the colon', request(`Transfer-Encoding : chunked\r\nContent-Length: 5\r\n`, `0\r\n\r\n${SMUGGLED}`)],
    ['a folded header', request(`Content-Length: 0\r\nX-A: b\r\n Transfer-Encoding: chunked\r\n`, SMUGGLED)],
    ['a header that ends in a bare LF', request(`X-A: b\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n`, `0\r\n\r\n`)],
    ['a bare CR in a header', request(`X-A: b\rc\r\nContent-Length: 0\r\n`)],
    ['a NUL in a header value', request(`X-A: b\0c\r\nContent-Length: 0\r\n`)],
    ['a NUL in a header name', request(`X\0A: b\r\nContent-Length: 0\r\n`)],
    ['a NUL in the path', request('', '', 'GET /openai/v1/mo\0dels HTTP/1.1')],
    ['a space in the path', request('', '', 'GET /openai/v1/mo dels HTTP/1.1')],
    ['two Host headers', request('Host: other.test\r\nContent-Length: 0\r\n', SMUGGLED)],
    ['no Host header', `GET /openai/v1/models HTTP/1.1\r\n\r\n${SMUGGLED}`],
    ['an absolute-form target', request('', '', 'GET http://evil.test/openai/v1/models HTTP/1.1')],
    ['dot segments', request('', SMUGGLED, 'GET /openai/../anthropic/v1/messages HTTP/1.1')],
    ['encoded dot segments', request('', '', 'GET /openai/%2e%2E/v1/models HTTP/1.1')],
    ['encoded slashes around dots', request('', '', 'GET /openai/..%2f..%2Fv1 HTTP/1.1')],
    ['a backslash', request('', '', 'GET /openai/..\\v1 HTTP/1.1')],
    ['an empty segment', request('', '', 'GET //evil.test/openai/v1 HTTP/1.1')],
    ['a fragment', request('', '', 'GET /openai/v1#/../x HTTP/1.1')],
    ['an unknown method', request('', '', 'BREW /openai/v1/models HTTP/1.1')],
    ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
    ['HTTP/3.0', request('', '', 'GET /openai/v1/models HTTP/3.0')],
    ['HTTP/2.0 in the syntax of HTTP/1.1', request('', '', 'GET /openai/v1/models HTTP/2.0')],
    ['HTTP/0.9', request('', '', 'GET /openai/v1/models')],
    ['HTTP/0.9, by a version that sticks to the path', request('', '', 'GET /openai/v1/modelsHTTP/1.1')],
    ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex')],
  ])('%s', async (_name, bytes, status = 400) => {
    const before = upstream.exchanges;
    const responses = await send(bytes);
    expect(responses.map((response) => response.status)).toEqual([status]);
    expect(responses[0]?.headers['connection']).toBe('close');
    // A malformed body aborts its request, even if that is already being forwarded.
    const reached = () => upstream.received.slice(upstream.received.length - upstream.exchanges + before);
    await waitUntil(() => reached().every(({ aborted }) => aborted), { what: 'the abort of what was on its way' });
  });
  afterAll(expectHealthy);
});

describe('requests that are not served', () => {
  test.each([
    ['100 KB of headers', 431, request(`X-Large: ${'a'.repeat(100_000)}\r\n`)],
    ['a path of 100 KB', 431, request('', '', `GET /openai/${'a'.repeat(100_000)} HTTP/1.1`)],
    ['CONNECT', 405, 'CONNECT api.openai.com:443 HTTP/1.1\r\nHost: api.openai.com:443\r\n\r\n'],
    [
      'a WebSocket upgrade',
      426,
      request('Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n', '', `GET /openai/v1/realtime HTTP/1.1`),
    ],
    ['an unknown expectation', 417, sound('Expect: miracles\r\n')],
    ['a path that does not exist', 404, request('', '', 'GET /nowhere HTTP/1.1')],
    ['a method that a path does not have', 405, request('Content-Length: 0\r\n', '', 'POST /api/traces HTTP/1.1')],
    ['a malformed escape', 400, request('', '', 'GET /api/traces/%zz HTTP/1.1')],
    ['an unknown trace', 404, request('', '', 'GET /api/traces/__proto__ HTTP/1.1')],
    ['dot segments in the admin API', 400, request('', '', 'GET /api/traces/..%2fhealth HTTP/1.1')],
  ])('%s: %i as JSON', async (_name, status, bytes) => {
    const [response, ...more] = await send(bytes, { until: isResponded });
    expect([response?.status, more]).toEqual([status, []]);
    expect(response?.body).toContain('"error"');
  });
  afterAll(expectHealthy);
});

describe('unusual but valid requests', () => {
  test('pipelined ones get their responses in order', async () => {
    const list = request('', '', 'GET /api/traces HTTP/1.1');
    const unknown = request('', '', 'GET /nowhere HTTP/1.1');
    const all = `${sound()}${list}${unknown}${sound('X-Mock-Scenario: status=418\r\n')}${sound('Connection: close\r\n')}`;
    expect((await send(all)).map(({ status }) => status)).toEqual([200, 200, 404, 418, 200]);
  });

  test('pipelined streams arrive complete, one after the other, whichever provider responds first', async () => {
    const body = BODY.replace('{', '{"stream":true,');
    const stream = (scenario: string) => request(`Content-Length: ${body.length}\r\nX-Mock-Scenario: ${scenario}\r\n`, body);
    const all = `${stream('slow=200,chunks=7')}${stream('chunks=3')}${sound()}${stream('chunks=9,split')}${sound('Connection: close\r\n')}`;
    const responses = await send(all);
    const events = responses.map(({ body: text }) => text.match(/"delta":\{"content"/g)?.length ?? 0);
    expect({ events, isWhole: responses.map(({ isWhole }) => isWhole) }).toEqual({
      events: [7, 3, 0, 9, 0],
      isWhole: [true, true, true, true, true],
    });
  });

  test.each<[string, string, boolean?]>([
    ['one byte at a time', sound(), true],
    [
      'a body in chunks with extensions',
      request('Transfer-Encoding: chunked\r\n', `${BODY.length.toString(16)};a=b\r\n${BODY}\r\n0\r\n\r\n`),
    ],
    ['with Expect: 100-continue, as curl sends it', sound('Expect: 100-continue\r\n')],
    [
      'HTTP/1.0 without a Host',
      `POST ${PATH} HTTP/1.0\r\nAuthorization: Bearer sk-1\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
    ],
    ['headers named like parts of an object', sound('__proto__: a\r\nconstructor: b\r\nhasOwnProperty: c\r\ntoString: d\r\n')],
    ['bytes above 127 in a header', sound('X-A: \xe9\xff\r\n')],
    [
      'every repeated header',
      sound('Accept: a\r\nAccept: b\r\nContent-Encoding: \r\nX-Svc-Thread-ID: a\r\nX-Svc-Thread-ID: b\r\n'),
    ],
    ['a Connection that names what must arrive', sound('Connection: keep-alive, Content-Length, X-A\r\nX-A: b\r\n')],
    ['an upgrade to something else', sound('Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n')],
  ])('%s', async (_name, text, isSlow = false) => {
    const responses = await send(text, { isSlow, until: isResponded });
    expect(responses).toEqual([expect.objectContaining({ status: 200, isWhole: true })]);
    expect(responses[0]?.body).toContain('"object":"chat.completion"');
  });

  const methods = ['GET', 'DELETE', 'OPTIONS', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'M-SEARCH', 'TRACE'];
  test.each(
    methods.flatMap((method) => ['', 'Content-Length: 2\r\n', 'Transfer-Encoding: chunked\r\n'].map((lines) => [method, lines])),
  )('%s with %j is forwarded, and the provider decides', async (method, lines = '') => {
    const body = lines === '' ? '' : lines.startsWith('C') ? '{}' : '2\r\n{}\r\n0\r\n\r\n';
    const before = upstream.exchanges;
    const [response] = await send(request(lines, body, `${method} /openai/v1/unheard-of HTTP/1.1`), { until: isResponded });
    expect(response).toMatchObject({ status: 404, body: expect.stringContaining('Invalid URL') });
    expect(upstream.exchanges).toBe(before + 1);
    expect(upstream.received.at(-1)?.body.toString()).toBe(lines === '' ? '' : '{}');
  });
  afterAll(expectHealthy);
});

describe('requests that stop midway', () => {
  const whole = Buffer.from(sound(), 'latin1');
  const cuts = Array.from({ length: whole.length }, (_, length) => length);

  test.each(['end', 'reset'] as const)('at every byte, by %s: an error in JSON or none, never a request', async (afterwards) => {
    const before = upstream.exchanges;
    const responses = await inTurns(cuts, (length) => send(whole.subarray(0, length), { afterwards }));
    expect([...new Set(responses.flat().map(({ status }) => status))]).toEqual(afterwards === 'end' ? [400] : []);
    expect(upstream.exchanges).toBe(before);
    await expectHealthy();
  });

  test('and leave after the whole request, before its response', async () => {
    await inTurns(Array(50).fill(whole) as Buffer[], (bytes) => send(bytes, { afterwards: 'reset' }));
    await expectHealthy();
  });
});

describe('garbage after a valid request', () => {
  test('gets no response in place of that request', async () => {
    const responses = await send(`${sound('X-Mock-Scenario: slow=50\r\n')}garbage\r\n\r\n`);
    // The whole response and then the refusal, or the end of the connection at either point.
    expect(responses.map(({ status }) => status)).toEqual([200, 400].slice(0, responses.length));
  });

  test('gets no response in the middle of that response', async () => {
    const stream = BODY.replace('{', '{"stream":true,');
    const text = await rawExchange(
      gateway.port,
      request(`X-Mock-Scenario: endless\r\nContent-Length: ${stream.length}\r\n`, stream),
      {
        followUp: (response) => (response.includes('data: ') ? 'garbage\r\n\r\n' : ''),
      },
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text.slice(-300)).not.toContain('HTTP/1.1');
    expect(text.slice(-300)).not.toContain('could not be parsed');
  });
  afterAll(expectHealthy);
});

const GRAMMAR = [
  'GET ',
  'POST ',
  PATH,
  ' HTTP/1.1',
  '\r\n',
  '\r\n\r\n',
  '\n',
  ':',
  ' ',
  '\t',
  '\0',
  '0\r\n\r\n',
  'ffffffff\r\n',
  BODY,
  'Host: a\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 10\r\n',
  'Connection: close\r\n',
  'Expect: 100-continue\r\n',
];

describe('garbage', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
    // A valid request with some of its bytes replaced, repeated or removed.
    fc
      .array(fc.tuple(fc.nat(sound().length - 1), fc.nat(4), fc.uint8Array({ maxLength: 4 })), { minLength: 1, maxLength: 5 })
      .map((edits) => {
        let text = Buffer.from(sound(), 'latin1');
        for (const [at, removed, inserted] of edits)
          text = Buffer.concat([text.subarray(0, at), inserted, text.subarray(at + removed)]);
        return text;
      }),
    // Parts of the grammar in any order.
    fc.array(fc.constantFrom(...GRAMMAR), { minLength: 1, maxLength: 30 }).map((parts) => Buffer.from(parts.join(''), 'latin1')),
  );

  test('of any kind gets a JSON response or none, and the gateway keeps serving', async () => {
    await inTurns(fc.sample(bytes, { seed: SEED, numRuns: RUNS }), (some) => send(some, { afterwards: 'end' }));
    await expectHealthy();
  });
});

/** Runs a function for every item, eight at a time. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = items.values();
  const worker = async () => {
    for (const item of left) results.push(await work(item));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return results;
}
