import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { growingText } from './growing-text.ts';
import type { Random } from './random.ts';

/** What a client writes on one connection, and how it leaves. */
export interface HostileStream {
  readonly bytes: Buffer;
  /** `wait` for the gateway's responses; the others right after the last byte. */
  readonly ending: 'wait' | 'half-close' | 'reset';
}

/** A path that the provider must never see, because no correct reader finds a request there. */
export const SMUGGLED = '/openai/v1/smuggled';
/** The path of the n-th request of a case. */
export const pathOf = (id: number, n = 0): string => `/openai/v1/hostile/${id}.${n}`;

const BODY = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'héllo 世界' }], stream: false });
const FIXED = 'Authorization: Bearer sk-fuzz-0123456789\r\nContent-Type: application/json\r\n';

interface Sound {
  readonly first?: string;
  readonly lines?: string;
  readonly body?: Buffer | string;
  /** Instead of a Content-Length. */
  readonly framing?: string;
}

function request(id: number, n: number, { first, lines = '', body = BODY, framing }: Sound = {}): Buffer {
  const bytes = Buffer.from(body);
  const framed = framing ?? `Content-Length: ${bytes.length}\r\n`;
  const head = `${first ?? `POST ${pathOf(id, n)} HTTP/1.1`}\r\nHost: gateway.test\r\n${FIXED}${lines}${framed}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
}

/** A request in the place of a body or behind something broken. */
const smuggled = (id: number) => `POST ${SMUGGLED}/${id} HTTP/1.1\r\nHost: gateway.test\r\n${FIXED}Content-Length: 2\r\n\r\n{}`;

const chunked = (random: Random, body: string | Buffer): string => {
  const bytes = Buffer.from(body);
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = 1 + random.int(Math.min(40, bytes.length - at));
    const extension = random.chance(0.2) ? random.pick([';a=b', ';x', ' ;y="z"']) : '';
    text += `${length.toString(16)}${extension}\r\n${bytes.toString('latin1', at, at + length)}\r\n`;
    at += length;
  }
  return `${text}0\r\n${random.chance(0.1) ? 'X-Trailer: a\r\n' : ''}\r\n`;
};

const wait = (bytes: Buffer | string): HostileStream => ({
  bytes: typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes,
  ending: 'wait',
});

const SPACES = [' ', '  ', '\t', '\x0b', '', '\xa0'];
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1 ', 'HTTP/1', 'HTTP/11', ''];
const METHODS = [
  'POST',
  'GET',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PRI',
  'post',
  'PO ST',
  'M-SEARCH',
  'QUERY',
  'SOURCE',
  'X'.repeat(50),
];
const targets = (random: Random, id: number) =>
  random.pick([
    pathOf(id),
    `${pathOf(id)}?${'a'.repeat(random.int(3_000))}`,
    `/openai/../anthropic/v1/${id}`,
    `/openai/%2e%2E/${id}`,
    `/openai/..%2f..%2f${id}`,
    `/openai/v1\\..\\${id}`,
    `//evil.test/openai/${id}`,
    `http://evil.test${pathOf(id)}`,
    `${pathOf(id)}#x`,
    `/openai${id}`,
    '*',
    'gateway.test:443',
    `${pathOf(id)}\0`,
    `${pathOf(id)}%00%0d%0a`,
    `${pathOf(id)}/\xff\xfe`,
    `/openai/${'a/'.repeat(random.int(9_000))}`,
  ]);

const LENGTHS = ['-1', '+2', '0x2', '2, 2', '2,3', ' 2', '2 ', '', '18446744073709551616', '2;', '1e1', '٢', '2\t'];
const CODINGS = [
  'chunked',
  'gzip, chunked',
  'chunked, chunked',
  'identity',
  'chunked, identity',
  'xchunked',
  ' chunked',
  'chunked\t',
  '"chunked"',
  'CHUNKED',
  'chunked;q=1',
  'cow',
];
const NAMES = [
  'Transfer-Encoding',
  'transfer-encoding',
  'Transfer-Encoding ',
  'Transfer_Encoding',
  ' Transfer-Encoding',
  'Transfer-Encoding\0',
  'Content-Length',
  'Content-Length ',
  'content-length',
  'Host',
  'Connection',
  'Expect',
  'Upgrade',
];
const BREAKS = ['\r\n', '\n', '\r', '\r\n ', '\r\n\t', '\r\r\n', '\n\r', '\0\r\n'];

function headerLine(random: Random): string {
  const name = random.pick(NAMES);
  const value = random.pick([
    ...LENGTHS,
    ...CODINGS,
    'close',
    'keep-alive, Content-Length',
    'upgrade',
    '100-continue',
    'h2c',
    'x\ry',
  ]);
  return `${name}${random.pick([':', ': ', ':\t', ' :', ''])}${value}${random.pick(BREAKS)}`;
}

const CODERS: readonly [string, (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['zstd', zstdCompressSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['gzip, br', (bytes) => brotliCompressSync(gzipSync(bytes))],
  ['identity', (bytes) => bytes],
  ['unheard-of', (bytes) => bytes],
];

/** Bytes with some of them replaced, repeated or left out. */
export function broken(random: Random, bytes: Buffer, edits = 1 + random.int(4)): Buffer {
  let result = bytes;
  for (let i = 0; i < edits; i += 1) {
    const at = random.int(result.length + 1);
    const inserted = random.chance(0.5)
      ? random.bytes(random.int(4))
      : Buffer.from(random.pick(['\r\n', '\n', '\0', ' ', ':', '0\r\n\r\n', '\r\n\r\n', 'f'.repeat(17)]), 'latin1');
    result = Buffer.concat([result.subarray(0, at), inserted, result.subarray(at + random.int(4))]);
  }
  return result;
}

/** Input of hostile clients, by kind. The n-th case of a seed is always the same. */
export const REQUEST_KINDS: Readonly<Record<string, (random: Random, id: number) => HostileStream>> = {
  'request line': (random, id) => {
    const first = `${random.pick(METHODS)}${random.pick(SPACES)}${targets(random, id)}${random.pick(SPACES)}${random.pick(VERSIONS)}`;
    return wait(Buffer.concat([request(id, 0, { first }), Buffer.from(random.chance(0.3) ? smuggled(id) : '', 'latin1')]));
  },
  headers: (random, id) => {
    const lines = Array.from({ length: 1 + random.int(4) }, () => headerLine(random)).join('');
    const huge = random.chance(0.05) ? `X-Huge: ${'a'.repeat(random.int(40_000))}\r\n` : '';
    const many = random.chance(0.05) ? 'X-Many: a\r\n'.repeat(random.int(1_500)) : '';
    const framing = random.pick([
      undefined,
      '',
      `Transfer-Encoding: ${random.pick(CODINGS)}\r\n`,
      `Content-Length: ${random.pick(LENGTHS)}\r\n`,
    ]);
    const body = random.pick([BODY, `0\r\n\r\n${smuggled(id)}`, smuggled(id), '']);
    return wait(request(id, 0, { lines: lines + huge + many, body, ...(framing === undefined ? {} : { framing }) }));
  },
  chunks: (random, id) => {
    const sound = chunked(random, BODY);
    const sizes = ['xyz', '-1', '0x5', `1${'0'.repeat(16)}`, '5 ', ' 5', '5;', '5\n', '', 'fffffffe', '5\r'];
    const body = random.pick([
      sound,
      broken(random, Buffer.from(sound, 'latin1')).toString('latin1'),
      `${random.pick(sizes)}\r\nhello\r\n0\r\n\r\n${smuggled(id)}`,
      `3\r\nabcdef\r\n0\r\n\r\n${smuggled(id)}`,
      `0\r\n${headerLine(random)}\r\n${smuggled(id)}`,
      `0\r\n\r\n`,
      `5;${'e'.repeat(random.int(20_000))}\r\nhello\r\n0\r\n\r\n`,
    ]);
    return wait(request(id, 0, { framing: 'Transfer-Encoding: chunked\r\n', body: Buffer.from(body, 'latin1') }));
  },
  'early close': (random, id) => {
    const isChunked = random.chance(0.5);
    const whole = isChunked
      ? request(id, 0, { framing: 'Transfer-Encoding: chunked\r\n', body: Buffer.from(chunked(random, BODY), 'latin1') })
      : request(id, 0);
    const cut = random.chance(0.2) ? whole.length : random.int(whole.length);
    return { bytes: whole.subarray(0, cut), ending: random.pick(['half-close', 'reset', 'reset'] as const) };
  },
  pipelining: (random, id) => {
    const parts = Array.from({ length: 2 + random.int(6) }, (_, n) => {
      const plain = request(id, n);
      return random.pick([
        () => plain,
        () => plain,
        () => request(id, n, { lines: 'Expect: 100-continue\r\n' }),
        () => request(id, n, { lines: 'Connection: close\r\n' }),
        () => request(id, n, { lines: 'Connection: Upgrade\r\nUpgrade: websocket\r\n' }),
        () => request(id, n, { framing: 'Transfer-Encoding: chunked\r\n', body: Buffer.from(chunked(random, BODY), 'latin1') }),
        () => Buffer.from('GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n', 'latin1'),
        () => Buffer.from('CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n', 'latin1'),
        () => Buffer.from('garbage\r\n\r\n', 'latin1'),
        () => Buffer.concat([request(id, n, { first: `POST /openai//${id} HTTP/1.1` }), Buffer.from(smuggled(id), 'latin1')]),
        () => broken(random, plain),
      ])();
    });
    return { bytes: Buffer.concat(parts), ending: random.pick(['wait', 'wait', 'wait', 'half-close', 'reset'] as const) };
  },
  'coded body': (random, id) => {
    const [coding, code] = random.pick(CODERS);
    const coded = code(Buffer.from(BODY));
    const body = random.pick([() => coded, () => broken(random, coded), () => coded.subarray(0, random.int(coded.length))])();
    return wait(request(id, 0, { lines: `Content-Encoding: ${coding}\r\n`, body }));
  },
  growth: (random, id) => {
    const text = growingText(random);
    const body = random.pick([text, JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }] })]);
    // Not in the path, which is stored redacted and identifies the trace.
    const lines = `X-Text: ${encodeURIComponent(text.slice(0, 1_000))}\r\n`;
    return wait(request(id, 0, random.chance(0.2) ? { lines } : { body }));
  },
  bytes: (random, id) =>
    wait(random.chance(0.3) ? random.bytes(1 + random.int(300)) : broken(random, request(id, 0), 1 + random.int(8))),
};
