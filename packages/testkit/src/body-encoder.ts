import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, createBrotliCompress, createDeflate, createGzip, createZstdCompress } from 'node:zlib';
import type { Scenario } from './scenario.ts';

/** Each write is flushed: a client must be able to read an event before the next one is sent. */
const CODERS = {
  gzip: () => createGzip({ flush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH, params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: () => createZstdCompress({ flush: constants.ZSTD_e_flush }),
  deflate: () => createDeflate({ flush: constants.Z_SYNC_FLUSH }),
};
type Coding = keyof typeof CODERS;

/** Compresses a body chunk by chunk. `encode` returns all bytes needed to decode its chunk. */
interface BodyEncoder extends Disposable {
  readonly encode: (chunk: Buffer) => Promise<Buffer>;
  readonly finish: () => Promise<Buffer>;
}

/** The coding that the scenario requests, if the client accepts it; without `accept-encoding` it accepts all (RFC 9110). */
export function codingOf(scenario: Scenario, headers: IncomingHttpHeaders): Coding | undefined {
  const accepted = headers['accept-encoding'];
  const codings = (accepted ?? '*')
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())
    .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
    .map((part) => part.split(';')[0]?.trim());
  const wanted = (Object.keys(CODERS) as Coding[]).filter((coding) => scenario.has(coding));
  return wanted.find((coding) => codings.includes(coding) || codings.includes('*'));
}

export function bodyEncoder(coding: Coding): BodyEncoder {
  const coder = CODERS[coding]();
  let out: Buffer[] = [];
  coder.on('data', (chunk: Buffer) => out.push(chunk));
  const step = async (act: (done: (error?: Error | null) => void) => void): Promise<Buffer> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    act((error) => (error ? reject(error) : resolve()));
    await promise;
    // Data that the coder pushed while busy is emitted on the next tick.
    await nextTurn();
    const bytes = Buffer.concat(out);
    out = [];
    return bytes;
  };
  return {
    encode: (chunk) => step((done) => coder.write(chunk, done)),
    finish: () => {
      // 'end' comes after the last data; the callback of end() would come before it.
      return step((done) =>
        coder
          .once('end', () => done())
          .once('error', done)
          .end(),
      );
    },
    [Symbol.dispose]: () => void coder.destroy(),
  };
}
