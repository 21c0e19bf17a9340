import { pipeline, type Readable } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { FetchError } from './fetch-error.ts';

/** The value of Accept-Encoding. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br, zstd';
/** RFC 9659: windows of zstd in HTTP have at most 8 MiB. Without it a frame may ask for 128 MiB of memory. */
const ZSTD_WINDOW_LOG = 23;
const GZIP_FIRST_BYTE = 0x1f;

export interface BodyLimit {
  readonly maxBytes: number;
  /** Whether a longer body ends there instead of being an error. */
  readonly truncate?: boolean;
  /** Whether the document itself may be a gzip file, as sitemaps may be; not within another encoding. */
  readonly isGzipFile?: boolean;
}

/** Reads a body through at most one layer of encoding. The limit applies to decoded bytes, so a small archive cannot become a large page. Uses
 *  memory for the limit and a few chunks. Throws FetchError: `too_large`, `http_error`; errors of the stream pass. */
export async function readBody(body: Readable, contentEncoding: string, limit: BodyLimit): Promise<Buffer> {
  const layers = contentEncoding
    .split(',')
    .map((layer) => layer.trim().toLowerCase())
    .filter((layer) => layer !== '' && layer !== 'identity');
  if (layers.length > 1) throw refuse(body, `content-encoding ${contentEncoding.slice(0, 100)} has more than one layer`);
  const [layer] = layers;
  if (layer === undefined) return await collect(limit.isGzipFile === true ? await gunzipFile(body) : body, limit);
  if (layer === 'deflate') return await collect(await inflate(body), limit);
  const decoder = decoderOf(layer);
  if (decoder === undefined) throw refuse(body, `content-encoding ${layer.slice(0, 100)} was not asked for`);
  return await collect(decode(body, decoder), limit);
}

function decoderOf(layer: string) {
  if (layer === 'gzip' || layer === 'x-gzip') return createGunzip();
  if (layer === 'br') return createBrotliDecompress();
  if (layer === 'zstd') return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } });
  return undefined;
}

/** `deflate` is the zlib format (RFC 9110, 8.4.1.2), but some servers send it bare. */
async function inflate(body: Readable): Promise<Readable> {
  const first = await firstChunk(body);
  const isZlib = first !== undefined && ((first[0] ?? 0) & 0x0f) === 8 && first.length > 1;
  return decode(body, isZlib ? createInflate() : createInflateRaw());
}

/** No text begins with the first byte of gzip (RFC 1952, 2.3.1). */
async function gunzipFile(body: Readable): Promise<Readable> {
  const first = await firstChunk(body);
  return first?.[0] === GZIP_FIRST_BYTE ? decode(body, createGunzip()) : body;
}

function firstChunk(body: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      body.off('readable', read).off('end', end).off('error', fail);
      done();
    };
    const read = () => {
      const chunk = body.read() as Buffer | null;
      if (chunk === null) return;
      // Put back at once, because the stream may be at its end.
      body.unshift(chunk);
      settle(() => resolve(chunk));
    };
    const end = () => settle(() => resolve(undefined));
    const fail = (error: Error) => settle(() => reject(error));
    body.on('readable', read).on('end', end).on('error', fail);
  });
}

function decode(body: Readable, decoder: NodeJS.ReadWriteStream & Readable): Readable {
  // The decoder, which is being read, emits the error.
  pipeline(body, decoder, () => {});
  return decoder;
}

async function collect(stream: Readable, { maxBytes, truncate = false }: BodyLimit): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) {
        if (truncate) break;
        throw new FetchError('too_large', `the body has more than ${maxBytes} decoded bytes`);
      }
    }
  } catch (error) {
    // Errors of zlib have a number as well as a code; brotli's codes begin with ERR_.
    if (typeof error === 'object' && error !== null && 'errno' in error && /^(?:Z_|ERR_|ZSTD_)/.test(codeOf(error)))
      throw new FetchError('http_error', `the body cannot be decoded: ${messageOf(error)}`, { cause: error });
    throw error;
  }
  const whole = Buffer.concat(chunks);
  return whole.length > maxBytes ? whole.subarray(0, maxBytes) : whole;
}

function refuse(body: Readable, message: string): FetchError {
  body.on('error', () => {});
  body.destroy();
  return new FetchError('http_error', message);
}
