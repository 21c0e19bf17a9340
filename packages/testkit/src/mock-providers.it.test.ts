import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import OpenAI from 'openai';
import { awkwardChunks } from './awkward-chunks.ts';
import { startMockAnthropic } from './mock-anthropic.ts';
import { startMockOpenai } from './mock-openai.ts';
import type { MockProvider, ReceivedRequest } from './mock-provider.ts';
import { pseudoRandomBytes } from './pseudo-random-bytes.ts';
import { parseScenario, SCENARIO_HEADER } from './scenario.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { tokenCounts } from './token-counts.ts';
import { waitUntil } from './wait-until.ts';

const TEXT = 'The größte Schaufenster 展示窗 glänzt ✨😀 ';
const PROMPT = 'Say hello to all the nice people of Vienna today'; // 10 words
const COUNTS = tokenCounts(10, 5);
const TOTAL = COUNTS.input + COUNTS.output;
const MESSAGES = [{ role: 'user' as const, content: PROMPT }];

let openaiMock: MockProvider;
let anthropicMock: MockProvider;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  openaiMock = await startMockOpenai();
  anthropicMock = await startMockAnthropic();
  openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${openaiMock.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: 'sk-ant-test', baseURL: anthropicMock.url, maxRetries: 0 });
});
afterAll(async () => {
  await openaiMock[Symbol.asyncDispose]();
  await anthropicMock[Symbol.asyncDispose]();
});

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}
const withScenario = (scenario: string) => ({ headers: { [SCENARIO_HEADER]: scenario } });

describe('the openai SDK', () => {
  const model = 'gpt-4o-2024-08-06';
  const usage = {
    prompt_tokens: COUNTS.input,
    completion_tokens: COUNTS.output,
    total_tokens: TOTAL,
    prompt_tokens_details: { cached_tokens: COUNTS.cacheRead, cache_write_tokens: COUNTS.cacheWrite },
    completion_tokens_details: { reasoning_tokens: COUNTS.reasoning },
  };
  const responseUsage = {
    input_tokens: COUNTS.input,
    input_tokens_details: { cached_tokens: COUNTS.cacheRead, cache_write_tokens: COUNTS.cacheWrite },
    output_tokens: COUNTS.output,
    output_tokens_details: { reasoning_tokens: COUNTS.reasoning },
    total_tokens: TOTAL,
  };

  test('chat', async () => {
    const { data, response, request_id } = await openai.chat.completions.create({ model, messages: MESSAGES }).withResponse();
    expect(data).toMatchObject({ object: 'chat.completion', model, choices: [{ message: { content: TEXT } }], usage });
    expect(request_id).toMatch(/^req_/);
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('10000');
    expect(response.headers.getSetCookie()).toEqual([expect.stringContaining('__cf_bm=')]);
  });

  test.each([[true], [false]])('chat stream, include_usage %s', async (include_usage) => {
    const stream = await openai.chat.completions.create({
      model,
      messages: MESSAGES,
      stream: true,
      ...(include_usage ? { stream_options: { include_usage } } : {}),
    });
    const chunks = await all(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(TEXT);
    expect(chunks.every((chunk) => chunk.model === model)).toBe(true);
    if (include_usage) expect(chunks.pop()).toMatchObject({ choices: [], usage });
    expect(new Set(chunks.map((chunk) => chunk.usage))).toEqual(new Set([include_usage ? null : undefined]));
  });

  test('responses', async () => {
    const response = await openai.responses.create({ model, input: PROMPT });
    expect(response).toMatchObject({ object: 'response', status: 'completed', model, output_text: TEXT, usage: responseUsage });
  });

  test('responses stream', async () => {
    const input = [{ role: 'user' as const, content: [{ type: 'input_text' as const, text: PROMPT }] }];
    const events = await all(await openai.responses.create({ model, input, stream: true }));
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('')).toBe(TEXT);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed', usage: responseUsage } });
    const final = await openai.responses.stream({ model, input }).finalResponse();
    expect(final.output_text).toBe(TEXT);
  });

  test('embeddings, as floats and as base64', async () => {
    const params = { model: 'text-embedding-3-small', input: ['two words', 'and three more'], dimensions: 4 };
    const decoded = await openai.embeddings.create(params);
    const floats = await openai.embeddings.create({ ...params, encoding_format: 'float' });
    expect(decoded).toMatchObject({ model: params.model, usage: { prompt_tokens: 5, total_tokens: 5 } });
    expect(decoded.data.map((one) => one.embedding)).toEqual(floats.data.map((one) => one.embedding));
    expect(decoded.data[1]?.embedding).toEqual([0.125, 0.25, 0.375, 0.5]);
  });

  test.each([
    ['gpt-4o-transcribe', { type: 'tokens', input_tokens: 30, output_tokens: 6, total_tokens: 36 }],
    ['whisper-1', { type: 'duration', seconds: 3 }],
  ])('transcriptions by %s', async (model, usage) => {
    const file = new File([pseudoRandomBytes(40_000)], 'sound.wav');
    expect(await openai.audio.transcriptions.create({ model, file })).toMatchObject({ text: TEXT, usage });
  });

  test('models', async () => {
    const models = await all(await openai.models.list());
    expect(models.map((one) => one.id)).toContain('whisper-1');
  });

  test('an error inside a stream', async () => {
    const chat = await openai.chat.completions.create(
      { model, messages: MESSAGES, stream: true },
      withScenario('error-in-stream'),
    );
    await expect(all(chat)).rejects.toThrow('The server had an error');
    const events = await all(
      await openai.responses.create({ model, input: PROMPT, stream: true }, withScenario('error-in-stream')),
    );
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' } },
    });
  });

  test('a status', async () => {
    const response = openai.chat.completions.create({ model, messages: MESSAGES }, withScenario('status=429'));
    await expect(response).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  });
});

describe('the anthropic SDK', () => {
  const model = 'claude-haiku-4-5-20251001';
  const params = {
    model,
    max_tokens: 100,
    system: 'Say hello to all',
    messages: [{ role: 'user' as const, content: 'the nice people of Vienna today' }],
  };
  const usage = {
    input_tokens: COUNTS.input - COUNTS.cacheRead - COUNTS.cacheWrite,
    cache_creation_input_tokens: COUNTS.cacheWrite,
    cache_read_input_tokens: COUNTS.cacheRead,
    output_tokens: COUNTS.output,
    output_tokens_details: { thinking_tokens: COUNTS.reasoning },
  };
  const cache_creation = { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 2 };

  test('messages', async () => {
    const { data, response, request_id } = await anthropic.messages.create(params).withResponse();
    const content = [{ type: 'text', text: TEXT }];
    expect(data).toMatchObject({ type: 'message', model, content, usage: { ...usage, cache_creation } });
    expect(request_id).toMatch(/^req_/);
    expect(response.headers.get('anthropic-ratelimit-requests-limit')).toBe('4000');
  });

  test('messages stream', async () => {
    const events = await all(await anthropic.messages.create({ ...params, stream: true }));
    const deltas = Array.from({ length: 5 }, () => 'content_block_delta');
    const types = ['message_start', 'content_block_start', ...deltas, 'content_block_stop', 'message_delta', 'message_stop'];
    expect(events.map((event) => event.type)).toEqual(types);
    expect(events[0]).toMatchObject({
      message: { model, usage: { input_tokens: usage.input_tokens, output_tokens: 1, cache_creation } },
    });
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage });
    const final = await anthropic.messages.stream(params).finalMessage();
    expect(final).toMatchObject({ content: [{ type: 'text', text: TEXT }], usage });
  });

  test('count_tokens and models', async () => {
    expect(await anthropic.messages.countTokens({ model, messages: MESSAGES })).toEqual({ input_tokens: COUNTS.input });
    const models = await all(await anthropic.models.list());
    expect(models.map((one) => one.id)).toContain(model);
  });

  test('an error inside a stream, and a status', async () => {
    const stream = await anthropic.messages.create({ ...params, stream: true }, withScenario('error-in-stream'));
    await expect(all(stream)).rejects.toMatchObject({ error: { error: { type: 'overloaded_error' } } });
    const response = anthropic.messages.create(params, withScenario('status=529'));
    await expect(response).rejects.toMatchObject({ status: 529, error: { error: { type: 'overloaded_error' } } });
  });
});

interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body as it was framed. */
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
/** Ids carry the exchange's number; everything else is the same for the same request. */
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
    const body = Buffer.concat(await all(response as AsyncIterable<Buffer>));
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

  test('echo returns 100 MB as they came, at the pace of the reader', async () => {
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

describe('what a client does wrong', () => {
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

  test('what is not HTTP, and an upload that stops, leave the mock standing', async () => {
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

  test('chunkDelayMs spaces the content chunks; disposal ends what is open and frees the port', async () => {
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

describe('the small tools', () => {
  test('parseScenario names what it does not understand', () => {
    expect(parseScenario(undefined)).toEqual(new Map());
    expect(parseScenario(' gzip , cut=3,chunks=2')).toEqual(
      new Map([
        ['gzip', 1],
        ['cut', 3],
        ['chunks', 2],
      ]),
    );
    for (const bad of [
      'toString',
      'cut',
      'cut=',
      'cut=-1',
      'cut=1e3',
      'gzip=1',
      'status=200',
      'chunks=1000000,chunk-bytes=8388608',
    ]) {
      expect(parseScenario(bad)).toEqual(expect.stringContaining(SCENARIO_HEADER));
    }
  });

  test('awkwardChunks cut inside characters, line ends and data', () => {
    const bytes = Buffer.from('data: ü\r\n\n');
    const chunks = awkwardChunks(bytes);
    expect(chunks.map((chunk) => chunk.toString('latin1'))).toEqual(['dat', 'a: \u00c3', '\u00bc\r', '\n', '\n']);
  });

  test('waitUntil gives the value or names what it waited for', async () => {
    let calls = 0;
    expect(await waitUntil(async () => ++calls === 3 && 'third', { what: 'calls' })).toBe('third');
    await expect(waitUntil(() => undefined, { what: 'Godot', timeoutMs: 20 })).rejects.toThrow('waited 20 ms for Godot');
  });

  test('temporaryFolder is gone after use', async () => {
    let path = '';
    {
      await using folder = await temporaryFolder('testkit');
      path = folder.path;
      expect((await stat(path)).isDirectory()).toBe(true);
    }
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
