import type { Transform } from 'node:stream';
import { NO_FACTS, type BodyFacts, type BodyFactsReader } from './body-facts.ts';
import { openBodyFactsReader } from './body-facts-reader.ts';
import type { CapturedBody } from './captured-exchange.ts';
import { openDecoder } from './decode.ts';

/** Reads the facts of a body that is not kept, as it passes. An encoded body is decoded in parallel with back-pressure: `isBehind` is true while
 *  the decoder is behind, and `onDrain` is called when it has caught up. */
export class StreamingUsageReader {
  readonly #reader: BodyFactsReader | undefined;
  readonly #decoder: Transform | undefined;
  #broken = false;

  constructor({ kind, coding, boundary }: Pick<CapturedBody, 'kind' | 'coding' | 'boundary'>, onDrain: () => void) {
    if (kind === undefined) return;
    const reader = openBodyFactsReader(kind, boundary);
    this.#reader = reader;
    if (coding === '' || coding === 'identity') return;
    this.#decoder = openDecoder(coding);
    if (this.#decoder === undefined) this.#broken = true;
    this.#decoder?.on('data', (chunk: Buffer) => reader.push(chunk));
    this.#decoder?.on('drain', onDrain);
    this.#decoder?.on('error', () => {
      this.#broken = true;
      onDrain();
    });
  }

  get isBehind(): boolean {
    return !this.#broken && this.#decoder?.writableNeedDrain === true;
  }

  push(chunk: Uint8Array): void {
    if (this.#broken || this.#reader === undefined) return;
    if (this.#decoder === undefined) this.#reader.push(chunk);
    // The decoder keeps a chunk for longer than its memory is valid.
    else this.#decoder.write(Buffer.from(chunk));
  }

  /** The facts; undefined when the body could not be decoded. For a cut encoded body, the facts before the cut. Call after `finished` has resolved
   *  if the body is encoded. */
  facts(complete: boolean): BodyFacts | undefined {
    if (this.#broken && complete) return undefined;
    return this.#reader?.end() ?? NO_FACTS;
  }

  /** Waits for the decoder; undefined without one. */
  finished(): Promise<void> | undefined {
    const decoder = this.#decoder;
    if (decoder === undefined || this.#broken) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    decoder.once('end', resolve);
    decoder.once('error', () => resolve());
    decoder.end();
    return promise;
  }
}
