import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pseudoRandomBytes } from '@vitrine/testkit/pseudo-random-bytes';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import type { MockProvider } from '@vitrine/testkit/mock-provider';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { createHash } from 'node:crypto';
import { rawExchange, type RawRequest } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const MEBIBYTE = 1_048_576;
const CHAT = '/v1/chat/completions';
const chat = (extra: object = {}) =>
  Buffer.from(JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'caf\u00e9 \u{1f600}' }], ...extra }));

let gateway: TestGateway;
/** A second provider that gets the same requests in the same order, so that its responses are identical. */
let direct: MockProvider;
beforeAll(async () => {
  gateway = await startTestGateway({ SVC_TRACING_CAPTURE_BODIES: 'true' });
  direct = await startMockOpenai();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await direct[Symbol.asyncDispose]();
});

const NOT_END_TO_END = new Set(['connection', 'keep-alive', 'transfer-encoding', 'set-cookie', 'date', 'x-svc-correlation-id']);

function endToEnd(rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((name, i) =>
    i % 2 === 0 && !NOT_END_TO_END.has(name.toLowerCase()) ? [`${name}: ${rawHeaders[i + 1]}`] : [],
  );
}

async function compare(path: string, request: RawRequest, scenario: string): Promise<void> {
  const headers = {
    authorization: 'Bearer sk-test-000000',
    'content-type': 'application/json',
    ...request.headers,
    'x-mock-scenario': scenario,
  };
  const expected = await rawExchange(direct.url + path, { ...request, headers });
  const through = await rawExchange(`${gateway.url}/openai${path}`, { ...request, headers });
  expect([through.status, through.bytes, through.sha256]).toEqual([expected.status, expected.bytes, expected.sha256]);
  expect(endToEnd(through.rawHeaders)).toEqual(endToEnd(expected.rawHeaders));
  const [wanted, got] = [direct.received.at(-1), gateway.openai.received.at(-1)];
  expect([got?.method, got?.url, got?.body.toString('latin1')]).toEqual([
    wanted?.method,
    wanted?.url,
    wanted?.body.toString('latin1'),
  ]);
  expect(endToEnd(got?.rawHeaders ?? []).filter(isFromClient)).toEqual(endToEnd(wanted?.rawHeaders ?? []).filter(isFromClient));
}

/** Host is replaced, and a streamed request may be framed differently. */
const isFromClient = (line: string) => !/^(host|content-length):/i.test(line);

describe('bytes with and without the gateway are equal', () => {
  test.each([
    ['JSON', CHAT, { body: chat() }, ''],
    ['JSON in awkward chunks', CHAT, { body: chat() }, 'split'],
    ['a stream', CHAT, { body: chat({ stream: true }) }, ''],
    ['a stream in awkward chunks', CHAT, { body: chat({ stream: true }) }, 'split'],
    ['a stream with CRLF', CHAT, { body: chat({ stream: true }) }, 'crlf'],
    ['a stream of 1.5 MB', CHAT, { body: chat({ stream: true }) }, 'chunks=1500,chunk-bytes=1000'],
    ['a stream with an endless line', CHAT, { body: chat({ stream: true }) }, 'huge-line'],
    ['an error in a stream', CHAT, { body: chat({ stream: true }) }, 'error-in-stream'],
    ['an error response', CHAT, { body: chat() }, 'status=429'],
    ['a response before the body', CHAT, { body: chat() }, 'early'],
    ['a redirect, not followed', CHAT, { body: chat() }, 'redirect'],
    ['binary', '/v1/files/1/content', { method: 'GET' }, 'bytes=300000'],
    ['nothing', '/v1/files/1/content', { method: 'GET' }, 'bytes=0'],
    ['HEAD', '/v1/models', { method: 'HEAD' }, ''],
    ['a GET', '/v1/models', { method: 'GET' }, ''],
    [
      'a chunked request',
      '/v1/files',
      {
        body: [Buffer.from('a'), Buffer.alloc(100_000, 'b'), Buffer.from('c')],
        headers: { 'content-type': 'application/octet-stream' },
      },
      'echo',
    ],
    [
      'multipart',
      '/v1/audio/transcriptions',
      {
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
        body: Buffer.concat([
          Buffer.from(
            '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-4o-transcribe\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
          ),
          pseudoRandomBytes(90_000),
          Buffer.from('\r\n--x--\r\n'),
        ]),
      },
      '',
    ],
  ] as [string, string, RawRequest, string][])('%s', async (_, path, request, scenario) => {
    await compare(path, request, scenario);
  });

  test.each(['gzip', 'br', 'zstd', 'deflate', 'bad-gzip'])('%s passes unchanged, JSON and stream', async (coding) => {
    const headers = { 'accept-encoding': coding.replace('bad-', '') };
    await compare(CHAT, { body: chat(), headers }, coding);
    await compare(CHAT, { body: chat({ stream: true }), headers }, coding);
    await compare('/v1/files', { body: pseudoRandomBytes(50_000), headers: { 'content-encoding': coding } }, 'echo');
  });
});

describe('100 MB', () => {
  const chunk = pseudoRandomBytes(MEBIBYTE);
  const chunks = 100;
  const expected = (() => {
    const hash = createHash('sha256');
    for (let i = 0; i < chunks; i += 1) hash.update(chunk);
    return hash.digest('hex');
  })();

  test('in both directions, byte for byte', async () => {
    function* body(): Generator<Buffer> {
      for (let i = 0; i < chunks; i += 1) yield chunk;
    }
    const headers = {
      authorization: 'Bearer sk-test-000000',
      'content-type': 'application/octet-stream',
      'x-mock-scenario': 'echo',
    };
    const response = await rawExchange(`${gateway.url}/openai/v1/files`, { body: body(), headers });
    expect([response.status, response.bytes, response.sha256]).toEqual([200, chunks * MEBIBYTE, expected]);
    const trace = await waitUntil(
      async () => {
        const newest = await gateway.newest(1);
        // Earlier requests went to the same path.
        return newest.request_headers['content-type']?.[0] === 'application/octet-stream' && newest;
      },
      { what: 'the trace' },
    );
    // On a slow machine the time limit of an exchange leaves both out.
    const { request_body_truncated, response_body_truncated, bodies_omitted } = trace.metadata;
    expect([
      [true, true, undefined],
      [undefined, undefined, 'time_limit'],
    ]).toContainEqual([request_body_truncated, response_body_truncated, bodies_omitted]);
  });
});
