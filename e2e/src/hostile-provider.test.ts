import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import fc from 'fast-check';
import { startHostileProvider, type AfterWriting, type HostileProvider } from './hostile-provider.ts';
import { rawExchange, readResponses, type WireResponse } from './raw-exchange.ts';
import { startGateway, type RunningGateway, type TraceItem } from './running-gateway.ts';

const SEED = 20_260_314;
const RUNS = 150;
/** How long a provider may be silent here; the gateway checks four times a second. */
const TIMEOUT_MS = 400;

let provider: HostileProvider;
let gateway: RunningGateway;
let opened: AsyncDisposableStack;
beforeAll(async () => {
  opened = new AsyncDisposableStack();
  provider = opened.use(await startHostileProvider());
  gateway = await serve();
});
afterAll(async () => opened.disposeAsync());

async function serve(): Promise<RunningGateway> {
  const folder = opened.use(await temporaryFolder('hostile'));
  const variables = {
    SVC_PROXY_FIRST_BYTE_TIMEOUT_MS: String(TIMEOUT_MS),
    SVC_PROXY_IDLE_TIMEOUT_MS: String(TIMEOUT_MS),
    SVC_TRACING_CAPTURE_BODIES: 'true',
  };
  return opened.use(await startGateway({ folder: folder.path, upstream: provider.url, variables }));
}

const MODEL = 'gpt-4o-mini';
const BODY = JSON.stringify({ model: MODEL, messages: [] });
/** Sends a request to the gateway on a new connection; returns the single response, or undefined. */
async function sendRequest(method = 'POST'): Promise<WireResponse | undefined> {
  const body = method === 'POST' ? BODY : '';
  const head = `${method} /openai/v1/chat/completions HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n`;
  const sent = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const text = await rawExchange(gateway.port, sent, { timeoutMs: 5 * TIMEOUT_MS });
  const responses = readResponses(text);
  expect(responses.length).toBeLessThanOrEqual(1);
  return responses[0];
}

const respondWith = (bytes: string | Uint8Array, afterwards: AfterWriting = 'close') => {
  provider.response = { bytes, afterwards };
};
const OWN = {
  502: [/^the provider(?:'s)? .+ \((?:reset|malformed_response)\)$/, /^(?:reset|malformed_response)$/],
  504: [/^the provider did not respond in time \(first_byte_timeout\)$/, /^first_byte_timeout$/],
} as const;

/** The gateway's own response for a provider that failed before it had responded. */
function expectOwn(response: WireResponse | undefined, status: 502 | 504): void {
  expect(response).toMatchObject({ status, isWhole: true, headers: { 'content-type': 'application/json' } });
  const [error, upstreamError] = OWN[status];
  const own = { error: expect.stringMatching(error), upstream_error: expect.stringMatching(upstreamError) };
  expect(JSON.parse(response?.body ?? '')).toEqual(own);
}

const isBroken = (response: WireResponse | undefined) => response?.isWhole !== true;

/** After every case: the process lives, and a valid response passes unchanged. */
async function expectHealthy(): Promise<void> {
  expect(gateway.process.isRunning).toBe(true);
  expect((await gateway.health()).status).toBe('ok');
  respondWith(
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"sound":true}'.slice(0, -1),
    'keep',
  );
  expect(await sendRequest()).toMatchObject({ status: 200, body: '{"sound":true' });
}

let seen = 0;
beforeEach(async () => {
  // A test that has crashed the gateway must not fail later ones.
  const isServing = await gateway.health().then(
    () => true,
    () => false,
  );
  if (!isServing) gateway = await serve();
  seen = (await gateway.diagnostics()).enqueue_accepted_total;
});
/** Every exchange leaves exactly one trace, after any end. */
const traced = (count: number) =>
  waitUntil(
    async () => {
      const { enqueue_accepted_total: accepted, written_total: written } = await gateway.diagnostics();
      return accepted === seen + count && written === accepted;
    },
    { what: `${count} traces` },
  );
const newest = async () => (await gateway.get<{ items: TraceItem[] }>('/api/traces?limit=1')).items[0];

const OK = 'HTTP/1.1 200 OK\r\n';
const JSON_HEAD = `${OK}Content-Type: application/json\r\n`;
const CHUNKED = `${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n`;

describe('a response that is not HTTP becomes 502 JSON and a trace', () => {
  test.each([
    ['nothing', ''],
    ['garbage', '\x00\xff\xfe garbage \r\n\r\n'],
    ['bare text, as HTTP/0.9', '{"hello":"world"}'],
    ['a TLS alert', Buffer.from('15030100020228', 'hex')],
    ['half a status line', 'HTTP/1.1 20'],
    ['a status line alone', OK],
    ['half a header', `${OK}Content-Ty`],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n'],
    ['HTTP/3.7', 'HTTP/3.7 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['a space in a header name', `${OK}Bad Header: x\r\nContent-Length: 0\r\n\r\n`],
    ['a NUL in a header', `${OK}X-A: a\0b\r\nContent-Length: 0\r\n\r\n`],
    ['no colon', `${OK}whatever\r\nContent-Length: 0\r\n\r\n`],
    ['a negative length', `${OK}Content-Length: -5\r\n\r\nhello`],
    ['a length that is no number', `${OK}Content-Length: five\r\n\r\nhello`],
    ['two lengths that differ', `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`],
    ['a length beyond 64 bits', `${OK}Content-Length: 99999999999999999999\r\n\r\nhello`],
    ['100 KB in one header', `${OK}X-Large: ${'a'.repeat(100_000)}\r\nContent-Length: 0\r\n\r\n`],
    ['10,000 headers', `${OK}${'X-Many: aaaaaaaa\r\n'.repeat(10_000)}Content-Length: 0\r\n\r\n`],
    ['an upgrade that was not requested', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nbytes'],
    ['only informational responses', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(50)],
  ])('%s', async (_name, bytes) => {
    respondWith(bytes);
    expectOwn(await sendRequest(), 502);
    await traced(1);
    expect(await newest()).toMatchObject({ outcome: 'upstream_error', response_status: 502 });
  });

  test('a reset instead of a response', async () => {
    respondWith('', 'reset');
    expectOwn(await sendRequest(), 502);
    await traced(1);
  });

  test.each([
    ['silence', ''],
    ['half a head, and silence', `${OK}Content-Length:`],
    ['informational responses, and silence', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(16)],
  ])('%s: 504 JSON and a trace', async (_name, bytes) => {
    respondWith(bytes, 'keep');
    expectOwn(await sendRequest(), 504);
    await traced(1);
    expect(await newest()).toMatchObject({ outcome: 'timeout', response_status: 504 });
  });
  afterAll(expectHealthy);
});

describe('an interrupted response breaks the connection of the client', () => {
  test.each([
    ['a length that is too long', `${JSON_HEAD}Content-Length: 100\r\n\r\n{"a":1}`, 'close'],
    ['a length that is too long, then a reset', `${JSON_HEAD}Content-Length: 100\r\n\r\n{"a":1}`, 'reset'],
    ['a length that is too long, then silence', `${JSON_HEAD}Content-Length: 100\r\n\r\n{"a":1}`, 'keep'],
    ['a chunk size that is no number', `${CHUNKED}xyz\r\n{"a":1}\r\n0\r\n\r\n`, 'close'],
    ['a chunk that is longer than its size', `${CHUNKED}3\r\n{"a":1}\r\n0\r\n\r\n`, 'close'],
    ['a chunk size beyond 64 bits', `${CHUNKED}fffffffffffffffff\r\n{"a":1}`, 'close'],
    ['no last chunk', `${CHUNKED}7\r\n{"a":1}\r\n`, 'close'],
    ['no last chunk, and silence', `${CHUNKED}7\r\n{"a":1}\r\n`, 'keep'],
    ['chunks followed by garbage', `${CHUNKED}7\r\n{"a":1}\r\ngarbage`, 'close'],
  ] as const)('%s', async (_name, bytes, afterwards) => {
    respondWith(bytes, afterwards);
    const response = await sendRequest();
    expect({ response, isBroken: isBroken(response) || response?.status === 502 }).toMatchObject({ isBroken: true });
    await traced(1);
    expect((await newest())?.outcome).toMatch(/^(upstream_error|timeout)$/);
  });

  const whole = `${JSON_HEAD}X-Request-Id: r\r\nContent-Length: 7\r\n\r\n{"a":1}`;
  const chunked = `${CHUNKED}3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n`;
  test.each([
    ['with a length, closed', whole, 'close'],
    ['with a length, reset', whole, 'reset'],
    ['in chunks, closed', chunked, 'close'],
    ['in chunks, reset', chunked, 'reset'],
  ] as const)('at every byte of one %s: never a response that looks whole', async (_name, bytes, afterwards) => {
    const headLength = bytes.indexOf('\r\n\r\n') + 4;
    for (let length = 0; length < bytes.length; length += 1) {
      respondWith(bytes.slice(0, length), afterwards);
      const response = await sendRequest();
      if (length < headLength) expectOwn(response, 502);
      else expect({ length, isBroken: isBroken(response) || response?.status === 502 }).toEqual({ length, isBroken: true });
    }
    await traced(bytes.length);
  });
  afterAll(expectHealthy);
});

describe('an unusual but valid response', () => {
  const withHeader = (lines: string) => `${JSON_HEAD}${lines}Content-Length: 7\r\n\r\n{"a":1}`;
  test.each([
    ['bytes above 127 in a header', withHeader('X-A: \xe9\xff\r\n')],
    ['UTF-8 in a header', withHeader('X-A: \u00d0\u009f\u00d1\u0080\r\n')],
    ['bytes above 127 in the reason', withHeader('').replace('OK', 'D\u00c3\u00a9j\u00e0')],
    ['UTF-8 beyond Latin in the reason', withHeader('').replace('OK', '\u00d0\u009f\u00d1\u0080')],
    ['no reason', withHeader('').replace(' OK', '')],
    ['a control character in the reason', withHeader('').replace('OK', 'O\x01K')],
    ['a control character in a header', withHeader('X-A: a\x01b\r\n')],
    ['an empty header value', withHeader('X-A:\r\n')],
    ['two content-types', withHeader('Content-Type: text/plain\r\n')],
    ['two content-encodings', withHeader('Content-Encoding: identity\r\nContent-Encoding: identity\r\n')],
    ['two Connection headers', withHeader('Connection: X-A\r\nConnection: X-B\r\nX-A: 1\r\nX-B: 2\r\n')],
    ['a Connection that names the length', withHeader('Connection: Content-Length\r\n')],
    ['headers named like parts of an object', withHeader('__proto__: a\r\nconstructor: b\r\ntoString: c\r\n')],
    ['the same length twice', withHeader('Content-Length: 7\r\n')],
    ['an unknown coding', withHeader('Content-Encoding: rot13\r\n')],
    ['gzip that is not', withHeader('Content-Encoding: gzip\r\n')],
    ['br, zstd and gzip that are not', withHeader('Content-Encoding: br, zstd, gzip\r\n')],
    ['hints before it', `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${withHeader('')}`],
    ['a flood of hints before it', `${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(5_000)}${withHeader('')}`],
    ['a 102 before it', `HTTP/1.1 102 Processing\r\n\r\n${withHeader('')}`],
    ['no length: the end of the connection ends it', `${JSON_HEAD}\r\n{"a":1}`],
    ['chunks with extensions and trailers', `${CHUNKED}7;x=y\r\n{"a":1}\r\n0\r\nX-Trailer: t\r\n\r\n`],
    ['HTTP/1.0', withHeader('').replace('HTTP/1.1', 'HTTP/1.0')],
    ['status 299', withHeader('').replace('200', '299')],
    ['status 599', withHeader('').replace('200', '599')],
    ['status 999', withHeader('').replace('200', '999')],
  ])('%s: the client gets it, or 502 JSON; a trace is left; the next response is valid', async (_name, bytes) => {
    respondWith(bytes);
    const response = await sendRequest();
    if (response?.status === 502) expectOwn(response, 502);
    else expect(response).toMatchObject({ status: Number(/ ([259]\d\d)/.exec(bytes)?.[1]), body: '{"a":1}', isWhole: true });
    await traced(1);
    await expectHealthy();
  });

  test.each(['HEAD', 'GET', 'DELETE'])('%s with or without a forbidden body', async (method) => {
    respondWith(`${JSON_HEAD}Content-Length: 7\r\n\r\n{"a":1}`, 'keep');
    expect(await sendRequest(method)).toMatchObject({ status: 200 });
    await traced(1);
    await expectHealthy();
  });

  test.each(['204 No Content', '304 Not Modified'])('%s with a body', async (status) => {
    respondWith(`HTTP/1.1 ${status}\r\nContent-Length: 7\r\n\r\n{"a":1}`, 'keep');
    expect([Number(status.slice(0, 3)), 502]).toContain((await sendRequest())?.status);
    await traced(1);
    await expectHealthy();
  });
});

test('bytes after a response are never the response to the next request', async () => {
  const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil';
  for (const afterwards of ['keep', 'close'] as const) {
    respondWith(`${JSON_HEAD}Content-Length: 7\r\n\r\n{"a":1}${evil}`, afterwards);
    const responses = [await sendRequest(), await sendRequest(), await sendRequest()];
    expect(responses.map((response) => response?.body).filter((body) => body?.includes('evil'))).toEqual([]);
    await expectHealthy();
  }
});

test('after responses of any bytes the gateway keeps serving, and each leaves a trace', async () => {
  const sound = Buffer.from(`${JSON_HEAD}X-Request-Id: r\r\nContent-Length: 7\r\n\r\n{"a":1}`, 'latin1');
  const edits = fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(3), fc.uint8Array({ maxLength: 3 })), {
    minLength: 1,
    maxLength: 4,
  });
  const responses = edits.map((some) =>
    some.reduce((bytes, [at, gone, come]) => Buffer.concat([bytes.subarray(0, at), come, bytes.subarray(at + gone)]), sound),
  );
  for (const bytes of fc.sample(responses, { seed: SEED, numRuns: RUNS })) {
    respondWith(bytes);
    const response = await sendRequest();
    if (response?.status === 502) expectOwn(response, 502);
  }
  await traced(RUNS);
  await expectHealthy();
});
