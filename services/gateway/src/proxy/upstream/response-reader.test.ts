import { describe, expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import { anyCharacter } from '@vitrine/testkit/testing/any-character';
import fc from 'fast-check';
import { ResponseReader } from './response-reader.ts';

interface Read {
  readonly status: number | undefined;
  readonly headers: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
  readonly ended: boolean;
  readonly surplus: number;
  readonly isPersistent: boolean | undefined;
  readonly code: string;
  readonly message: string;
}

/** Reads these chunks and overwrites each afterwards, as a connection does. */
function read(chunks: readonly string[], { isHead = false, closes = false } = {}): Read {
  const body: string[] = [];
  let ended = false;
  let trailers: readonly string[] = [];
  const reader = new ResponseReader(
    {
      onHead: () => {},
      onData: (chunk) => body.push(chunk.toString('latin1')),
      onEnd: (received) => {
        ended = true;
        trailers = received;
      },
    },
    isHead,
  );
  let code = '';
  let message = '';
  try {
    for (const chunk of chunks) {
      const bytes = Buffer.from(chunk, 'latin1');
      reader.push(bytes);
      bytes.fill('!');
    }
    if (closes) reader.close();
  } catch (error) {
    code = codeOf(error);
    message = messageOf(error);
  }
  const { head, surplus } = reader;
  const { status, headers = [], isPersistent } = head ?? {};
  return { status, headers, body: body.join(''), trailers, ended, surplus, isPersistent, code, message };
}

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
/** Single bytes, or 64 bytes at once for long input, because each segment rechecks the whole head. */
const inPieces = (text: string) => text.match(text.length > 4_000 ? /[^]{1,64}/g : /[^]/g) ?? [];
const sized = (body: string) => `${OK}Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('a response', () => {
  test.each([
    ['of a length', sized('hello'), { body: 'hello', ended: true }],
    ['of no length', sized(''), { body: '', ended: true }],
    ['chunked', `${CHUNKED}5\r\nhello\r\n0\r\n\r\n`, { body: 'hello', ended: true }],
    [
      'chunked, with extensions and trailers',
      `${CHUNKED}5;a=b\r\nhello\r\n00 ; x\r\nX: 1\r\nx:\t\xe9 \r\n\r\n`,
      { body: 'hello', trailers: ['X', '1', 'x', '\xe9'], ended: true },
    ],
    ['chunked, in capitals', `${OK}TRANSFER-ENCODING: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n`, { body: '0123456789' }],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', ended: true }],
    ['304 with a length', 'HTTP/1.1 304 \r\nContent-Length: 5\r\n\r\n', { status: 304, body: '', ended: true }],
    ['after informational ones', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nLink: y\r\n\r\n${sized('hi')}`, { body: 'hi' }],
    ['without a reason', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', { status: 200, ended: true }],
    ['followed by more', `${sized('hi')}HTTP/1.1`, { body: 'hi', ended: true, surplus: 8 }],
    ['cut', sized('hello').slice(0, -1), { body: 'hell', ended: false }],
  ])('%s', (_, text, expected) => {
    expect(read([text])).toMatchObject({ code: '', ...expected });
  });

  test('without any length ends with the connection', () => {
    expect(read([`${OK}\r\nhel`, 'lo'])).toMatchObject({ body: 'hello', ended: false });
    expect(read([`${OK}\r\nhel`, 'lo'], { closes: true })).toMatchObject({ body: 'hello', ended: true, code: '' });
  });

  test('to HEAD has no body, whatever its headers', () => {
    const length = `${OK}Content-Length: 5\r\n\r\n`;
    expect(read([length], { isHead: true })).toMatchObject({ ended: true, headers: ['Content-Length', '5'] });
    expect(read([CHUNKED], { isHead: true })).toMatchObject({ ended: true });
  });

  test.each([
    ['', true],
    ['Connection: keep-alive\r\n', true],
    ['Connection: Close\r\n', false],
    ['Connection: x, close\r\n', false],
  ])('with %j may be followed by another: %s', (header, isPersistent) => {
    expect(read([`${OK}${header}Content-Length: 0\r\n\r\n`])).toMatchObject({ isPersistent });
    expect(read([`HTTP/1.0 200 OK\r\n${header}Content-Length: 0\r\n\r\n`])).toMatchObject({ isPersistent: false });
  });

  test('keeps its headers unchanged, except for the space around values', () => {
    const text = `${OK}X-A:  b \t\r\nx-a:\r\nX-Caf\u00e9: \u00e9\r\nContent-Length: 0\r\n\r\n`;
    expect(read([text.replace('X-Caf\u00e9', 'X-Cafe')]).headers).toEqual([
      'X-A',
      'b',
      'x-a',
      '',
      'X-Cafe',
      '\u00e9',
      'Content-Length',
      '0',
    ]);
  });
});

test('the bytes of a header value are kept, also those that are spaces in other encodings', () => {
  const value = Buffer.from('voil\u00e0').toString('latin1');
  expect(read([`${OK}X-A: \t ${value} \t\r\nX-B:${value}\r\nX-C: \r\nContent-Length: 0\r\n\r\n`]).headers).toEqual([
    'X-A',
    value,
    'X-B',
    value,
    'X-C',
    '',
    'Content-Length',
    '0',
  ]);
});

describe('refused is', () => {
  test.each([
    ['no status line', 'hello\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
    ['an upgrade', 'HTTP/1.1 101 x\r\n\r\n'],
    ['a bare line feed', 'HTTP/1.1 200 OK\nX: 1\r\n\r\n'],
    ['a bare carriage return', `${OK}X: a\rb\r\n\r\n`],
    ['a null byte', `${OK}X: \0\r\n\r\n`],
    ['a folded header', `${OK}X: a\r\n b\r\n\r\n`],
    ['a header without a colon', `${OK}X\r\n\r\n`],
    ['a header without a name', `${OK}: a\r\n\r\n`],
    ['a space before the colon', `${OK}Content-Length : 5\r\n\r\n`],
    ['two lengths', `${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\n`],
    ['a list of lengths', `${OK}Content-Length: 5, 5\r\n\r\n`],
    ['a negative length', `${OK}Content-Length: -5\r\n\r\n`],
    ['a length in hexadecimal', `${OK}Content-Length: 0x5\r\n\r\n`],
    ['a length behind a no-break space', `${OK}Content-Length: \xa05\r\n\r\nhello`],
    ['an empty length', `${OK}Content-Length:\r\n\r\n`],
    ['a length beside a coding', `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['another coding', `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ['a coding twice', `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['a head that is too long', `${OK}X: ${'a'.repeat(17_000)}\r\n\r\n`],
    ['a head that never ends', `${OK}${'X: a\r\n'.repeat(4_000)}`],
    ['too many headers', `${OK}${'X:\r\n'.repeat(600)}\r\n`],
    ['too many informational responses', 'HTTP/1.1 100 x\r\n\r\n'.repeat(17)],
    ['a chunk without a size', `${CHUNKED}\r\nhello`],
    ['a size that is no number', `${CHUNKED}x\r\n`],
    ['a signed size', `${CHUNKED}-5\r\nhello\r\n`],
    ['a size after a space', `${CHUNKED} 5\r\nhello\r\n`],
    ['a size of nine digits', `${CHUNKED}000000005\r\nhello\r\n`],
    ['a size line that ends without CR', `${CHUNKED}5\nhello\r\n`],
    ['a chunk that is longer than it says', `${CHUNKED}4\r\nhello\r\n`],
    ['an endless extension', `${CHUNKED}5;${'a'.repeat(5_000)}`],
    ['a trailer without a colon', `${CHUNKED}0\r\nX\r\n\r\n`],
    ['a folded trailer', `${CHUNKED}0\r\nX: a\r\n b\r\n\r\n`],
    ['a bare carriage return in a trailer', `${CHUNKED}0\r\nX: a\rb\r\n\r\n`],
    ['endless trailers', `${CHUNKED}0\r\n${`X: ${'a'.repeat(1_000)}\r\n`.repeat(20)}`],
  ])('%s', (_, text) => {
    expect(read([text])).toMatchObject({ code: 'malformed_response', ended: false });
    expect(read(inPieces(text))).toMatchObject({ code: 'malformed_response', ended: false });
  });

  test.each([
    ['before its head', ''],
    ['in its head', OK],
    ['in its body', sized('hello').slice(0, -2)],
    ['in its chunks', `${CHUNKED}5\r\nhello\r\n0\r\n`],
    ['after an informational one', 'HTTP/1.1 100 x\r\n\r\n'],
  ])('a response that ends %s', (_, text) => {
    expect(read([text], { closes: true })).toMatchObject({ code: 'reset', ended: false });
  });

  test.each([
    ['in a status line', 'HTTP/1.1 2x'],
    ['in a reason', 'HTTP/1.1 200 O\x01'],
    ['in a header', `${OK}X-A: b\r\nX Y`],
    ['in the end of a header', `${OK}X-A: b\r\nX-B: c\rX`],
    ['before bare line feeds', 'HTTP/1.1 200 OK\nX: 1\n\n'],
    ['in a chunk size', `${CHUNKED}5x`],
    ['behind a chunk size', `${CHUNKED}5\rh`],
    ['behind a chunk', `${CHUNKED}5\r\nhello!`],
    ['in a trailer', `${CHUNKED}0\r\nX Y`],
    ['in another protocol', 'SSH-2.0-x\r\n'],
    ['in a second head', 'HTTP/1.1 100 x\r\n\r\nHTTP/1.x'],
  ])('a response that ends where it was already malformed: %s', (_, text) => {
    expect(read([text], { closes: true })).toMatchObject({ code: 'malformed_response', ended: false });
    expect(read(Array.from(text), { closes: true })).toMatchObject({ code: 'malformed_response', ended: false });
  });

  test('a head that ends with bare line feeds is refused at once: the provider sends no more', () => {
    for (const end of ['\n', '\r\n'])
      expect(read(['HTTP/1.1 200 OK\nX: 1\n', end])).toMatchObject({ code: 'malformed_response', ended: false });
  });

  test.each([
    ['TLS', '\x15\x03\x01\x00\x02\x02\x46', 'invalid status line: the provider uses TLS'],
    ['HTTP/2', '\0\0\x12\x04\0\0\0\0\0', 'invalid status line: the provider uses HTTP/2'],
    ['SSH', 'SSH-2.0-OpenSSH_9.6', 'invalid status line: the provider uses SSH'],
    ['anything', '{"secret":1}', 'invalid status line'],
  ])('%s is refused at its first bytes, and no bytes are repeated', (_, text, detail) => {
    expect(read([text])).toMatchObject({ code: 'malformed_response', message: detail });
  });
});

const chunk = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 40 }).map((text) => Buffer.from(text).toString('latin1'));

test('segmentation makes no difference', () => {
  const responses = fc.oneof(
    fc.array(chunk, { maxLength: 6 }).map((chunks) => ({
      text: `${CHUNKED}${chunks.map((one) => `${one.length.toString(16)}\r\n${one}\r\n`).join('')}0\r\n\r\n`,
      body: chunks.join(''),
    })),
    chunk.map((body) => ({ text: sized(body), body })),
  );
  fc.assert(
    fc.property(responses, fc.array(fc.nat(200), { maxLength: 8 }), ({ text, body }, cuts) => {
      const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].toSorted((a, b) => a - b);
      const chunks = at.slice(1).map((end, i) => text.slice(at[i], end));
      const whole = read([text]);
      expect(whole).toMatchObject({ body, ended: true, surplus: 0, code: '' });
      expect(read(chunks)).toEqual(whole);
    }),
    { numRuns: propertyRuns(500) },
  );
});
