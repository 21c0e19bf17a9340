import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { broken } from './hostile-requests.ts';
import { growingText } from './growing-text.ts';
import type { Random } from './random.ts';

/** The response of a provider to one request, and what it then does with the connection. */
export interface HostileResponse {
  readonly bytes: Buffer;
  /** `keep` waits for the next request. */
  readonly ending: 'keep' | 'close' | 'reset';
}

/** A mark that identifies the response to a request. A damaged one does not count. */
export const markOf = (id: number): string => `marked-${id}-${checkOf(id)}`;

/** Ids of the marks in a text. */
export const idsMarkedIn = (text: string): number[] =>
  [...text.matchAll(/marked-(-?\d+)-([0-9a-f]{8})/g)]
    .filter(([, id, check]) => checkOf(Number(id)) === check)
    .map(([, id]) => Number(id));

const checkOf = (id: number): string => (Math.imul(id + 7, 0x9e37_79b1) >>> 0).toString(16).padStart(8, '0');

const json = (id: number): string =>
  JSON.stringify({
    id: markOf(id),
    object: 'chat.completion',
    model: 'gpt-4o-mini',
    choices: [{ index: 0, message: { role: 'assistant', content: 'grüße 世界' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 },
  });

const events = (id: number): string =>
  [
    ...['one', 'two', 'drei 世'].map((content) =>
      JSON.stringify({ id: markOf(id), choices: [{ index: 0, delta: { content } }] }),
    ),
    JSON.stringify({ id: markOf(id), choices: [], usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 } }),
    '[DONE]',
  ]
    .map((data) => `data: ${data}\n\n`)
    .join('');

interface Sound {
  readonly first?: string;
  readonly lines?: string;
  readonly type?: string;
  readonly framing?: string;
}

function responseOf(
  body: Buffer | string,
  { first = 'HTTP/1.1 200 OK', lines = '', type = 'application/json', framing }: Sound = {},
): Buffer {
  const bytes = Buffer.from(body);
  const framed = framing ?? `Content-Length: ${bytes.length}\r\n`;
  return Buffer.concat([Buffer.from(`${first}\r\nContent-Type: ${type}\r\n${lines}${framed}\r\n`, 'latin1'), bytes]);
}

const CHUNKED = 'Transfer-Encoding: chunked\r\n';

function chunked(random: Random, body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + random.int(Math.min(200, bytes.length - at));
    parts.push(Buffer.from(`${length.toString(16)}\r\n`), bytes.subarray(at, at + length), Buffer.from('\r\n'));
    at += length;
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

const CODERS: readonly [string, (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['zstd', zstdCompressSync],
  ['unheard-of', (bytes) => bytes],
];
const STATUSES = [
  '200 OK',
  '200',
  '204 No Content',
  '304 Not Modified',
  '101 Switching Protocols',
  '100 Continue',
  '600 Odd',
  '99 Low',
  '2 00',
  'abc',
  '429 Too Many Requests',
  '500 \xff\x01',
];
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'http/1.1', 'ICY', ''];
const FRAMINGS = [
  'Content-Length: 5\r\nContent-Length: 7\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 99999999\r\n',
  'Content-Length: 3\r\n',
  'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Content-Length:\r\n',
  'Transfer-Encoding : chunked\r\n',
  '',
];
const LINES = [
  'X-A: b\n',
  'X-A: b\r\n c\r\n',
  'X A: b\r\n',
  ': b\r\n',
  'X-A\r\n',
  'X-A: \0\r\n',
  'Connection: close\r\n',
  'Connection: Content-Type\r\n',
  'Keep-Alive: timeout=0\r\n',
  'Set-Cookie: a=b\r\n',
  'X-Svc-Correlation-ID: forged\r\n',
  'Content-Encoding: gzip\r\n',
];
const ending = (random: Random) => random.pick(['keep', 'keep', 'close', 'reset'] as const);

/** The responses of hostile or broken providers, by kind. */
export const RESPONSE_KINDS: Readonly<Record<string, (random: Random, id: number) => HostileResponse>> = {
  'status line': (random, id) => {
    const first = `${random.pick(VERSIONS)}${random.pick([' ', '  ', '\t', ''])}${random.pick(STATUSES)}`;
    return { bytes: responseOf(json(id), { first }), ending: ending(random) };
  },
  headers: (random, id) => {
    const lines = Array.from({ length: 1 + random.int(3) }, () => random.pick(LINES)).join('');
    const huge = random.chance(0.05) ? `X-Huge: ${'a'.repeat(random.int(40_000))}\r\n` : '';
    return { bytes: responseOf(json(id), { lines: lines + huge }), ending: ending(random) };
  },
  length: (random, id) => ({ bytes: responseOf(json(id), { framing: random.pick(FRAMINGS) }), ending: ending(random) }),
  chunks: (random, id) => {
    const body = chunked(random, random.chance(0.5) ? json(id) : events(id));
    const lied = random.chance(0.7) ? broken(random, body) : body;
    return { bytes: responseOf(lied, { framing: CHUNKED }), ending: ending(random) };
  },
  'early close': (random, id) => {
    const whole = random.chance(0.5)
      ? responseOf(json(id))
      : responseOf(chunked(random, events(id)), { framing: CHUNKED, type: 'text/event-stream' });
    return { bytes: whole.subarray(0, random.int(whole.length)), ending: random.pick(['close', 'reset'] as const) };
  },
  'too much': (random, id) => {
    const extra = random.pick([responseOf(json(-1)), Buffer.from('garbage'), random.bytes(200)]);
    return { bytes: Buffer.concat([responseOf(json(id)), extra]), ending: ending(random) };
  },
  informational: (random, id) => {
    const interim = 'HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n'.repeat(random.int(24));
    return { bytes: Buffer.concat([Buffer.from(interim), responseOf(json(id))]), ending: ending(random) };
  },
  'coded body': (random, id) => {
    const [coding, code] = random.pick(CODERS);
    const isStream = random.chance(0.5);
    const coded = code(Buffer.from(isStream ? events(id) : json(id)));
    const body = random.pick([() => coded, () => broken(random, coded), () => coded.subarray(0, random.int(coded.length))])();
    const type = isStream ? 'text/event-stream' : 'application/json';
    return { bytes: responseOf(body, { lines: `Content-Encoding: ${coding}\r\n`, type }), ending: ending(random) };
  },
  stream: (random, id) => {
    const text = broken(random, Buffer.from(events(id)), 1 + random.int(6));
    return { bytes: responseOf(chunked(random, text), { framing: CHUNKED, type: 'Text/Event-Stream' }), ending: ending(random) };
  },
  growth: (random, id) => {
    const text = growingText(random);
    const choices = [{ index: 0, delta: { content: text } }];
    const event = `data: ${JSON.stringify({ id: markOf(id), choices })}\n\n`;
    const body = random.pick([text, event, `data: ${text}\n\n`, JSON.stringify({ id: markOf(id), choices })]);
    const type = random.pick(['text/event-stream', 'application/json']);
    return { bytes: responseOf(body, { type }), ending: ending(random) };
  },
  bytes: (random, id) => ({
    bytes: random.chance(0.3) ? random.bytes(random.int(400)) : broken(random, responseOf(json(id)), 1 + random.int(8)),
    ending: random.pick(['close', 'reset'] as const),
  }),
};
