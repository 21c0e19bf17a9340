import { PassThrough, Transform, type TransformCallback } from 'node:stream';
import zlib from 'node:zlib';

interface DecodeOptions {
  /** Limit of the decoded body and of every intermediate step. A larger body is a bomb. */
  readonly maxBytes: number;
  /** False for a cut body: as much as possible is decoded, and the missing end is not a fault. */
  readonly complete: boolean;
}

/** More codings than occur in practice. Each needs a decoder. */
const MAX_CODINGS = 4;
// With these flags a body that ends early is decoded as far as possible.
const CUT_ZLIB = { finishFlush: zlib.constants.Z_SYNC_FLUSH };
const CUT_BROTLI = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH };
const CUT_ZSTD = { finishFlush: zlib.constants.ZSTD_e_flush };
type Coding = 'gzip' | 'br' | 'deflate' | 'zstd';
const CODINGS: Readonly<Record<string, Coding>> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  br: 'br',
  deflate: 'deflate',
  zstd: 'zstd',
};

/** Decodes a whole body by its `Content-Encoding`: gzip, br, deflate (with the zlib header or without), zstd, identity, or
 *  a list of them. Undefined when a coding is unknown, when the bytes do not match it, and when the output exceeds `maxBytes`. Then no
 *  prefix is returned, because usage is at the end of a body. Synchronous: 10 to 50 µs for 2 KB. */
export function decodeWhole(coding: string, body: Buffer, options: DecodeOptions): Buffer | undefined {
  const found = attempt(coding, body, options);
  return Buffer.isBuffer(found) ? found : undefined;
}

/** The same. For a complete body whose coding ends early, returns the beginning with `endsEarly` set. Only such a body is decoded twice, a bomb is
 *  not. */
export function decodeFar(
  coding: string,
  body: Buffer,
  options: DecodeOptions,
): { readonly decoded: Buffer; readonly endsEarly: boolean } | undefined {
  const found = attempt(coding, body, options);
  if (Buffer.isBuffer(found)) return { decoded: found, endsEarly: false };
  if (found !== 'ended early') return undefined;
  const decoded = decodeWhole(coding, body, { ...options, complete: false });
  return decoded && { decoded, endsEarly: true };
}

function attempt(coding: string, body: Buffer, options: DecodeOptions): Buffer | 'ended early' | undefined {
  const codings = codingsOf(coding);
  if (codings === undefined) return undefined;
  let decoded = body;
  try {
    for (const one of codings) {
      // A reply without a body may still name a coding.
      if (decoded.length > 0) decoded = decodeOne(one, decoded, options);
    }
  } catch (error) {
    // All three decoders report this code only when the end of a body is missing.
    return (error as { readonly code?: unknown }).code === 'Z_BUF_ERROR' ? 'ended early' : undefined;
  }
  return decoded.length <= options.maxBytes ? decoded : undefined;
}

/** A stream that decodes a body by its `Content-Encoding`, with back-pressure; undefined when a coding is unknown. Bytes that do not match the
 *  coding cause an `error` event. A cut body ends without one. Output is not bounded, so the consumer must read it in constant memory. */
export function openDecoder(coding: string): Transform | undefined {
  const codings = codingsOf(coding);
  if (codings === undefined) return undefined;
  const [first] = codings;
  if (first === undefined) return new PassThrough();
  if (codings.length === 1 && first !== 'deflate') return streamOf(first, undefined);
  return new LateDecoder((firstByte) => codings.map((one, at) => streamOf(one, at === 0 ? firstByte : undefined)));
}

/** The codings in decoding order; undefined when one is unknown. */
function codingsOf(coding: string): Coding[] | undefined {
  const names = coding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  const codings = names.map((name) => (Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined)).toReversed();
  if (codings.length > MAX_CODINGS) return undefined;
  return codings.every((one) => one !== undefined) ? codings : undefined;
}

function decodeOne(coding: Coding, body: Buffer, { maxBytes, complete }: DecodeOptions): Buffer {
  const limits = { maxOutputLength: maxBytes };
  if (coding === 'br') return zlib.brotliDecompressSync(body, complete ? limits : { ...limits, ...CUT_BROTLI });
  if (coding === 'zstd') return zlib.zstdDecompressSync(body, complete ? limits : { ...limits, ...CUT_ZSTD });
  const options = complete ? limits : { ...limits, ...CUT_ZLIB };
  if (coding === 'gzip') return zlib.gunzipSync(body, options);
  return hasZlibHeader(body[0]) ? zlib.inflateSync(body, options) : zlib.inflateRawSync(body, options);
}

function streamOf(coding: Coding, firstByte: number | undefined): Transform {
  if (coding === 'br') return zlib.createBrotliDecompress(CUT_BROTLI);
  if (coding === 'zstd') return zlib.createZstdDecompress(CUT_ZSTD);
  if (coding === 'gzip') return zlib.createGunzip(CUT_ZLIB);
  return firstByte === undefined || hasZlibHeader(firstByte) ? zlib.createInflate(CUT_ZLIB) : zlib.createInflateRaw(CUT_ZLIB);
}

/** `deflate` should have zlib's header, but some servers omit it. The header's low four bits are 8 (the method). A raw stream has them only before
 *  a stored block with padding that no encoder writes. */
function hasZlibHeader(firstByte: number | undefined): boolean {
  return firstByte !== undefined && (firstByte & 0x0f) === 8;
}

/** A chain of decoders, selected by the first byte of the body. */
class LateDecoder extends Transform {
  readonly #open: (firstByte: number | undefined) => readonly Transform[];
  #stages: readonly Transform[] = [];

  constructor(open: (firstByte: number | undefined) => readonly Transform[]) {
    super();
    this.#open = open;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (chunk.length === 0) return done();
    if (this.#stages.length === 0) this.#start(chunk[0]);
    this.#stages[0]?.write(chunk, (error) => done(error));
  }

  override _flush(done: TransformCallback): void {
    if (this.#stages.length === 0) return done();
    this.#stages.at(-1)?.once('end', () => done());
    this.#stages[0]?.end();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    for (const stage of this.#stages) stage.destroy();
    done(error);
  }

  #start(firstByte: number | undefined): void {
    this.#stages = this.#open(firstByte);
    for (const [at, stage] of this.#stages.entries()) {
      stage.on('error', (error) => this.destroy(error));
      const next = this.#stages[at + 1];
      if (next === undefined) stage.on('data', (chunk: Buffer) => this.push(chunk));
      else stage.pipe(next);
    }
  }
}
