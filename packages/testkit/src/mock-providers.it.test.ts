import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { startMockAnthropic } from './mock-anthropic.ts';
import { startMockOpenai } from './mock-openai.ts';
import type { MockProvider, ReceivedRequest } from './mock-provider.ts';
import { pseudoRandomBytes } from './pseudo-random-bytes.ts';
import { SCENARIO_HEADER } from './scenario.ts';
import { waitUntil } from './wait-until.ts';

const PROMPT = 'Say hello to all the nice people of Vienna today'; // 10 words
const MESSAGES = [{ role: 'user' as const, content: PROMPT }];

let openaiMock: MockProvider;
let anthropicMock: MockProvider;

beforeAll(async () => {
  openaiMock = await startMockOpenai();
  anthropicMock = await startMockAnthropic();
});
afterAll(async () => {
  await openaiMock[Symbol.asyncDispose]();
  await anthropicMock[Symbol.asyncDispose]();
});

interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body with its framing. */
  readonly chunks: readonly Buffer[];
  /** Whether the connection broke before the end. */
  readonly broken: boolean;
}
interface Options {
  readonly scenario?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}
type Api = 'chat' | 'responses' | 'messages';
const PATHS: Readonly<Record<Api, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};
const mockOf = (api: Api) => (api === 'messages' ? anthropicMock : openaiMock);
const bodyOf = (stream: boolean) => {
  return JSON.stringify({ model: 'm', stream, messages: MESSAGES, input: PROMPT, stream_options: { include_usage: true } });
};

/** A request and its response, which is awaited only when a test wants it. */
function open(url: string, { scenario = '', method = 'POST', headers = {} }: Options) {
  const all = { authorization: 'Bearer k', [SCENARIO_HEADER]: scenario, connection: 'close', ...headers };
  const request = httpRequest(url, { method, headers: all });
  const { promise: responded, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.on('response', resolve).on('error', reject);
  responded.catch(() => {});
  return { request, responded };
}

async function send(url: string, options: Options): Promise<Sent> {
  const { request, responded } = open(url, options);
  request.end(options.body);
  const response = await responded;
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {});
  await new Promise((resolve) => response.once('close', resolve));
  const { statusCode = 0, headers, complete } = response;
  return { status: statusCode, headers, chunks, body: Buffer.concat(chunks), broken: !complete };
}

const sendPrompt = (api: Api, stream: boolean, scenario: string, headers: Options['headers'] = {}) => {
  return send(mockOf(api).url + PATHS[api], { scenario, headers, body: bodyOf(stream) });
};
const last = (mock: MockProvider): ReceivedRequest => {
  const request = mock.received.at(-1);
  if (request === undefined) throw new Error('nothing was received');
  return request;
};
const EVERY: readonly (readonly [Api, boolean])[] = (['chat', 'responses', 'messages'] as const).flatMap((api) => [
  [api, false] as const,
  [api, true] as const,
]);
/** Ids contain the exchange's number. Everything else is the same for the same request. */
const withoutIds = (body: Buffer) => body.toString().replaceAll(/mock\d+/g, 'mock');
const count = (body: Buffer, part: string) => body.toString().split(part).length - 1;
const CONTENT: Readonly<Record<Api, string>> = {
  chat: '"delta":{"content"',
  responses: 'event: response.output_text.delta',
  messages: 'event: content_block_delta',
};

describe('scenarios of every route', () => {
  test.each(EVERY)('%s, stream %s: codings, split, crlf, no-usage, bad-gzip', async (api, stream) => {
    const plain = await sendPrompt(api, stream, '');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers['content-length']).toBe(stream ? undefined : String(plain.body.length));

    const decoders = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync, deflate: inflateSync };
    for (const [coding, decode] of Object.entries(decoders)) {
      const coded = await sendPrompt(api, stream, coding);
      expect(coded.headers['content-encoding']).toBe(coding);
      expect(withoutIds(decode(coded.body))).toBe(withoutIds(plain.body));
      if (stream) expect(coded.chunks.length).toBeGreaterThan(8); // each event was flushed
      const refused = await sendPrompt(api, stream, coding, { 'accept-encoding': `identity, ${coding};q=0` });
      expect(refused.headers['content-encoding']).toBeUndefined();
    }

    const crlf = await sendPrompt(api, stream, 'crlf, split');
    expect(withoutIds(crlf.body)).toBe(withoutIds(plain.body).replaceAll('\n', '\r\n'));
    expect(crlf.chunks.some((chunk) => (chunk[0] ?? 0) >>> 6 === 2)).toBe(true);
    expect(crlf.chunks.some((chunk) => chunk[0] === 0x0a)).toBe(stream);
    expect(crlf.chunks.some((chunk) => chunk.subarray(0, 3).toString() === 'a: ')).toBe(stream);

    const usage = /_tokens":\d/;
    expect(plain.body.toString()).toMatch(usage);
    const noUsage = await sendPrompt(api, stream, 'no-usage');
    expect(noUsage.body.toString()).not.toMatch(usage);

    const bad = await sendPrompt(api, stream, 'bad-gzip');
    expect(bad).toMatchObject({ status: 200, broken: false, headers: { 'content-encoding': 'gzip' } });
    expect(() => gunzipSync(bad.body)).toThrow();
  });

  test.each(EVERY)('%s, stream %s: chunks, chunk-bytes, cut, huge-line', async (api, stream) => {
    const sized = await sendPrompt(api, stream, 'chunks=7,chunk-bytes=50');
    expect(count(sized.body, 'vitrine vitrine ')).toBeGreaterThan(0);
    if (stream) expect(count(sized.body, CONTENT[api])).toBe(7);
    else expect(sized.body.includes(`"${'vitrine vitrine vitrine vitrine vitrine vitrine vi'.repeat(7)}"`)).toBe(true);

    for (const chunks of [0, 2, 5]) {
      const cut = await sendPrompt(api, stream, `cut=${chunks},gzip`, { 'accept-encoding': 'identity' });
      expect(cut).toMatchObject({ status: 200, broken: true });
      if (stream) expect(count(cut.body, CONTENT[api])).toBe(chunks);
      else expect(cut.body.length).toBe(Math.floor(Number(cut.headers['content-length']) / 2));
      expect(last(mockOf(api)).aborted).toBe(false);
    }
    expect((await sendPrompt(api, stream, 'cut=6')).broken).toBe(!stream);

    const huge = await sendPrompt(api, stream, 'huge-line');
    const longest = Math.max(
      ...huge.body
        .toString()
        .split('\n')
        .map((line) => line.length),
    );
    expect(longest > 2 * 1024 * 1024).toBe(stream);
  });

  test.each(EVERY)('%s, stream %s: stall, slow and endless end when the client leaves', async (api, stream) => {
    const mock = mockOf(api);
    for (const scenario of ['stall', 'endless', 'endless,gzip,split', 'slow=3600000']) {
      const { request, responded } = open(mock.url + PATHS[api], { scenario });
      const before = mock.exchanges;
      request.end(bodyOf(stream));
      await waitUntil(() => mock.exchanges > before && last(mock).body.length > 0, { what: 'the request' });
      if (!scenario.startsWith('slow')) {
        const response = await responded;
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('error', () => {});
        const enough = scenario === 'stall' ? 100 : 1_000;
        await waitUntil(() => bytes > enough, { what: `${enough} bytes of ${scenario}` });
        expect(mock.open).toBe(1);
      }
      expect(last(mock).aborted).toBe(false);
      request.destroy();
      await waitUntil(() => mock.open === 0 && last(mock).aborted, { what: `the end of ${scenario}` });
    }
  });

  test('slow waits before the headers', async () => {
    const begin = performance.now();
    expect(await sendPrompt('chat', false, 'slow=60')).toMatchObject({ status: 200, broken: false });
    expect(performance.now() - begin).toBeGreaterThan(55);
  });

  test('endless honours back-pressure', async () => {
    const { request, responded } = open(openaiMock.url + PATHS.chat, { scenario: 'endless,chunk-bytes=1000000' });
    request.end(bodyOf(true));
    const response = await responded;
    response.pause();
    const sample = async () => {
      const before = process.memoryUsage().arrayBuffers + process.memoryUsage().external;
      for (let turn = 0; turn < 20; turn++) await send(`${openaiMock.url}/v1/models`, { method: 'GET' });
      return process.memoryUsage().arrayBuffers + process.memoryUsage().external - before;
    };
    await sample(); // the kernel's buffers fill
    expect(await sample()).toBeLessThan(30_000_000);
    expect(openaiMock.open).toBe(1);
    response.on('error', () => {});
    request.destroy();
    await waitUntil(() => openaiMock.open === 0, { what: 'the end of the stream' });
  });
});

describe('scenarios instead of the route', () => {
  test.each(['openai', 'anthropic'] as const)('%s: status, redirect, bytes, reset, early', async (name) => {
    const mock = name === 'openai' ? openaiMock : anthropicMock;
    for (const [status, retryAfter] of [[400], [404], [429, '1'], [500], [503, '1'], [529, '1']] as const) {
      const response = await send(`${mock.url}/anything`, { scenario: `status=${status}` });
      expect(response).toMatchObject({ status, broken: false });
      expect(response.headers['retry-after']).toBe(retryAfter);
      expect(JSON.parse(response.body.toString())).toMatchObject({ error: { message: expect.stringContaining(String(status)) } });
    }
    const redirect = await send(`${mock.url}/anything`, { scenario: 'redirect' });
    expect(redirect).toMatchObject({ status: 302, headers: { location: '/v1/redirected' } });
    for (const length of [0, 1, 65_536, 1_000_003]) {
      const bytes = await send(`${mock.url}/v1/files/x`, { method: 'GET', scenario: `bytes=${length}` });
      const headers = { 'content-type': 'application/octet-stream', 'content-length': String(length) };
      expect(bytes).toMatchObject({ status: 200, headers });
      expect(bytes.body.equals(pseudoRandomBytes(length))).toBe(true);
    }
    await expect(send(`${mock.url}/v1/models`, { method: 'GET', scenario: 'reset' })).rejects.toMatchObject({
      code: 'ECONNRESET',
    });
    expect(last(mock).aborted).toBe(false);
  });

  test('early responds before the body is read, then drains it', async () => {
    const { request, responded } = open(openaiMock.url + PATHS.chat, {
      scenario: 'early',
      headers: { connection: 'keep-alive' },
    });
    request.write('{');
    const response = await responded;
    const body = Buffer.concat((await response.toArray()) as Buffer[]);
    expect(JSON.parse(body.toString())).toMatchObject({ object: 'chat.completion' });
    request.end(Buffer.alloc(3 * 1024 * 1024));
    await waitUntil(() => last(openaiMock).body.length === 1024 * 1024, { what: 'the drained body' });
    expect(last(openaiMock).aborted).toBe(false);
  });

  test('an upload that stops after an early response is an abort', async () => {
    const { request, responded } = open(openaiMock.url, { scenario: 'early' });
    request.write('{');
    expect((await responded).statusCode).toBe(200);
    request.destroy();
    await waitUntil(() => last(openaiMock).aborted, { what: 'the abort' });
  });

  test('echo returns 100 MB unchanged, at the pace of the reader', async () => {
    const block = pseudoRandomBytes(1_000_000);
    let sent = 0;
    const { request, responded } = open(`${openaiMock.url}/v1/files`, {
      scenario: 'echo',
      headers: { 'content-type': 'image/png' },
    });
    Readable.from(
      (function* () {
        for (; sent < 100; sent++) yield block;
      })(),
      { highWaterMark: 1 },
    ).pipe(request);
    const response = await responded;
    for (let turn = 0; turn < 50; turn++) await send(`${openaiMock.url}/v1/models`, { method: 'GET' });
    expect(sent).toBeLessThan(50); // what the kernel's buffers take; nothing has been read yet
    let at = 0;
    let equal = true;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      for (let done = 0; done < chunk.length;) {
        const place = at % block.length;
        const part = chunk.subarray(done, done + block.length - place);
        equal &&= part.equals(block.subarray(place, place + part.length));
        done += part.length;
        at += part.length;
      }
    }
    expect({ at, equal, type: response.headers['content-type'] }).toEqual({ at: 100_000_000, equal: true, type: 'image/png' });
    const echoed = openaiMock.received.find((one) => one.url === '/v1/files');
    expect(echoed?.body.equals(Buffer.concat([block, block]).subarray(0, 1024 * 1024))).toBe(true);
  });
});

describe('client errors', () => {
  const post = { method: 'POST', body: '{}' };
  const noKey = { authorization: '' };
  test.each<[string, Options, number, string]>([
    ['/v1/chat/completions', { ...post, headers: noKey }, 401, 'API key'],
    ['/v1/chat/completions', { ...post, body: '{"model":' }, 400, 'parse'],
    ['/v1/chat/completions', { ...post, body: '[]' }, 400, 'parse'],
    ['/v1/chat/completions', { ...post, body: '[['.repeat(500_000) }, 400, 'parse'],
    ['/v1/chat/completions', { ...post, body: `{"messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}` }, 200, 'choices'],
    ['/v1/chat/completions', { ...post, body: Buffer.alloc(33 * 1024 * 1024, ' ') }, 413, 'too large'],
    ['/v1/chat/completions', { ...post, scenario: 'nonsense' }, 400, 'nonsense'],
    ['/v1/audio/transcriptions', post, 400, 'multipart'],
    ['/v1/nothing?a=b', post, 404, 'Invalid URL (POST /v1/nothing?a=b)'],
    ['/__proto__', { method: 'GET' }, 404, 'Invalid URL'],
    ['/v1/models', { method: 'HEAD', scenario: 'bytes=1000000' }, 200, ''],
  ])('%s: case %#', async (path, options, status, text) => {
    const response = await send(openaiMock.url + path, options);
    expect(response.status).toBe(status);
    expect(response.body.toString()).toContain(text);
    if (status >= 400) expect(JSON.parse(response.body.toString())).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  test.each<[Options, number, string]>([
    [{ ...post, headers: noKey }, 401, 'authentication_error'],
    [{ ...post, body: 'x' }, 400, 'invalid_request_error'],
    [{ ...post, method: 'PUT' }, 404, 'not_found_error'],
    [{ ...post, body: Buffer.alloc(33 * 1024 * 1024, ' ') }, 413, 'request_too_large'],
  ])('/v1/messages: case %#', async (options, status, type) => {
    const response = await send(`${anthropicMock.url}/v1/messages`, options);
    expect(response.status).toBe(status);
    expect(JSON.parse(response.body.toString())).toMatchObject({
      type: 'error',
      error: { type },
      request_id: response.headers['request-id'],
    });
  });

  test('the mock survives non-HTTP input and an interrupted upload', async () => {
    const { port } = new URL(openaiMock.url);
    for (const text of [
      'garbage\r\n\r\n',
      'POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{',
      'CONNECT a:1 HTTP/1.1\r\n\r\n',
    ]) {
      const before = openaiMock.exchanges;
      const socket = connect(Number(port), '127.0.0.1');
      socket
        .on('error', () => {})
        .end(text)
        .resume();
      await once(socket, 'close');
      if (openaiMock.exchanges > before) await waitUntil(() => last(openaiMock).aborted, { what: 'the abort' });
    }
    expect((await sendPrompt('chat', false, '')).status).toBe(200);
  });
});

describe('the provider itself', () => {
  test('records the newest 1000 requests and counts all', async () => {
    await using mock = await startMockOpenai();
    for (let at = 0; at < 1010; at += 10) {
      await Promise.all(Array.from({ length: 10 }, () => send(`${mock.url}/v1/models?n=${at}`, { method: 'GET' })));
    }
    expect(mock).toMatchObject({ exchanges: 1010, open: 0 });
    expect(mock.received.length).toBe(1000);
    expect(mock.received[0]).toMatchObject({ method: 'GET', url: '/v1/models?n=10', aborted: false });
    expect(last(mock).rawHeaders).toEqual(expect.arrayContaining(['authorization', 'Bearer k']));
  });

  test('chunkDelayMs spaces the content chunks; disposal closes connections and frees the port', async () => {
    const mock = await startMockOpenai({ chunkDelayMs: 15 });
    const begin = performance.now();
    await send(mock.url + PATHS.chat, { body: bodyOf(true) });
    expect(performance.now() - begin).toBeGreaterThan(55);
    const stalled = send(mock.url + PATHS.chat, { body: bodyOf(true), scenario: 'stall' });
    await waitUntil(() => mock.open === 1, { what: 'the stalled stream' });
    await mock[Symbol.asyncDispose]();
    expect(await stalled).toMatchObject({ broken: true });
    expect(last(mock).aborted).toBe(false);
    await mock[Symbol.asyncDispose]();
    await using second = await startMockOpenai({ port: Number(new URL(mock.url).port) });
    expect(second.url).toBe(mock.url);
    await expect(startMockOpenai({ port: Number(new URL(mock.url).port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
