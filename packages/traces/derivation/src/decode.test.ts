import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import zlib from 'node:zlib';
import { decodeFar, decodeWhole, openDecoder } from './decode.ts';

type Encoder = (body: Uint8Array) => Buffer;
/** The default quality is slow, and half a megabyte is compressed several times. */
const brotli: Encoder = (body) => zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } });
const ENCODERS: [name: string, coding: string, encode: Encoder][] = [
  ['gzip', 'gzip', (body) => zlib.gzipSync(body)],
  ['x-gzip in capitals', ' X-GZIP ', (body) => zlib.gzipSync(body)],
  ['gzip in two members', 'gzip', (body) => Buffer.concat([zlib.gzipSync(body.subarray(0, 3)), zlib.gzipSync(body.subarray(3))])],
  ['br', 'br', brotli],
  ['deflate with a header', 'deflate', (body) => zlib.deflateSync(body)],
  ['deflate without one', 'deflate', (body) => zlib.deflateRawSync(body)],
  ['zstd', 'zstd', (body) => zlib.zstdCompressSync(body)],
  ['identity', 'identity', (body) => Buffer.from(body)],
  ['no coding', '', (body) => Buffer.from(body)],
  ['gzip, then br', 'gzip, br', (body) => brotli(zlib.gzipSync(body))],
  ['raw deflate, then zstd, with a gap', 'deflate, , zstd', (body) => zlib.zstdCompressSync(zlib.deflateSync(body))],
];
const CODED = ENCODERS.filter(([, coding]) => coding !== '' && coding !== 'identity');
const WHOLE = { maxBytes: 1_000_000, complete: true };
const CUT = { maxBytes: 1_000_000, complete: false };
/** Barely compressible, in several blocks of every coding. */
const long = Buffer.alloc(300_000);
for (let at = 0, seed = 1; at < long.length; at++) {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  long[at] = 97 + (seed >>> 28);
}

async function throughStream(coding: string, chunks: readonly Uint8Array[]): Promise<Buffer | undefined> {
  const decoder = openDecoder(coding);
  if (decoder === undefined) return undefined;
  for (const chunk of chunks) decoder.write(chunk);
  decoder.end();
  return Buffer.concat((await decoder.toArray()) as Buffer[]);
}

describe.each(ENCODERS)('%s', (_, coding, encode) => {
  test('is decoded, both complete and as a stream in any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 4, maxLength: 300 }), fc.nat(400), async (body, place) => {
        const coded = encode(body);
        expect(decodeWhole(coding, coded, WHOLE)).toEqual(Buffer.from(body));
        expect(await throughStream(coding, [coded.subarray(0, place), coded.subarray(place)])).toEqual(Buffer.from(body));
      }),
      { numRuns: 30 },
    );
  });

  test('a body of more than maxBytes is refused, but one of exactly maxBytes is not', () => {
    const coded = encode(Buffer.alloc(5_000));
    expect(decodeWhole(coding, coded, { maxBytes: 4_999, complete: true })).toBeUndefined();
    expect(decodeWhole(coding, coded, { maxBytes: 5_000, complete: true })).toHaveLength(5_000);
  });

  test('an empty body stays empty', async () => {
    expect(decodeWhole(coding, Buffer.alloc(0), WHOLE)).toHaveLength(0);
    expect(await throughStream(coding, [])).toHaveLength(0);
  });
});

describe.each(CODED.filter(([name]) => !name.includes('two members')))('%s, broken', (_, coding, encode) => {
  const coded = encode(long);

  test('the beginning of a cut body is returned on request', async () => {
    const part = coded.subarray(0, Math.floor(coded.length * 0.8));
    expect(decodeWhole(coding, part, WHOLE)).toBeUndefined();
    const streamed = await throughStream(coding, [part.subarray(0, 1), part.subarray(1)]);
    for (const decoded of [decodeWhole(coding, part, CUT), streamed]) {
      expect(decoded?.length).toBeGreaterThan(long.length / 4);
      // `toEqual` would take seconds for this much.
      expect(decoded?.equals(long.subarray(0, decoded.length))).toBe(true);
    }
  });

  test('a complete body whose coding ends early returns its beginning, marked as such', () => {
    expect(decodeFar(coding, coded, WHOLE)).toMatchObject({ endsEarly: false });
    const found = decodeFar(coding, coded.subarray(0, Math.floor(coded.length * 0.8)), WHOLE);
    expect(found?.endsEarly).toBe(true);
    expect(found?.decoded.equals(long.subarray(0, found.decoded.length))).toBe(true);
    expect(decodeFar(coding, encode(Buffer.alloc(5_000)), { maxBytes: 4_999, complete: true })).toBeUndefined();
    expect(decodeFar(coding, Buffer.from('\xff{"usage": "this is not compressed"}', 'latin1'), WHOLE)).toBeUndefined();
  });

  test('garbage is refused', async () => {
    const garbage = Buffer.from('\xff{"usage": "this is not compressed"}', 'latin1');
    expect(decodeWhole(coding, garbage, WHOLE)).toBeUndefined();
    expect(decodeWhole(coding, garbage, CUT)).toBeUndefined();
    await expect(throughStream(coding, [garbage])).rejects.toThrow();
  });
});

test.each(['compress', 'gzip, unheard-of', '__proto__', 'constructor', 'gzip,gzip,gzip,gzip,gzip'])('%s is unknown', (coding) => {
  expect(decodeWhole(coding, zlib.gzipSync('x'), WHOLE)).toBeUndefined();
  expect(openDecoder(coding)).toBeUndefined();
});

test('no step of a list may output more than maxBytes', () => {
  const coded = zlib.gzipSync(zlib.gzipSync(Buffer.alloc(5_000), { level: 0 }));
  expect(decodeWhole('gzip, gzip', coded, { maxBytes: 5_000, complete: true })).toBeUndefined();
  expect(decodeWhole('gzip, gzip', coded, { maxBytes: 5_100, complete: true })).toHaveLength(5_000);
});

test('a stream outputs data before its end', async () => {
  for (const [coding, encoder] of [
    ['gzip', zlib.createGzip()],
    ['deflate', zlib.createDeflateRaw()],
    ['br', zlib.createBrotliCompress()],
    ['zstd', zlib.createZstdCompress()],
  ] as const) {
    const decoder = openDecoder(coding);
    encoder.pipe(decoder!);
    const seen = new Promise((resolve) => decoder?.once('data', resolve));
    encoder.write('data: {"usage":1}\n\n');
    encoder.flush();
    expect(String(await seen)).toBe('data: {"usage":1}\n\n');
    encoder.destroy();
    decoder?.destroy();
  }
});

test('a slow reader slows the stream down', async () => {
  for (const coding of ['deflate', 'gzip']) {
    const decoder = openDecoder(coding)!;
    const coded = (coding === 'gzip' ? zlib.gzipSync : zlib.deflateRawSync)(Buffer.concat([long, long]));
    let taken = 0;
    while (taken < coded.length && decoder.write(coded.subarray(taken, taken + 1_000))) {
      taken += 1_000;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    expect(taken).toBeLessThan(coded.length / 2);
    expect(decoder.readableLength).toBeLessThan(200_000);
    decoder.destroy();
  }
});
