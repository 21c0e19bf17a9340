import type { BodyKind } from '@vitrine/privacy/redaction';
import type { Transform } from 'node:stream';
import { NO_FACTS, type BodyFacts, type BodyFactsReader } from './body-facts.ts';
import { openBodyFactsReader } from './body-facts-reader.ts';
import { openDecoder } from './decode.ts';

/** Reads the facts of a body that is not held, as it passes by. A coded body is decoded on the side, with back-pressure: `isBehind` says when the
 *  decoder is behind, and `onDrain` is called when it has caught up. */
export class StreamingUsageReader {
  readonly #reader: BodyFactsReader | undefined;
  readonly #decoder: Transform | undefined;
  #broken = false;

  constructor(kind: BodyKind, coding: string, onDrain: () => void) {
    if (kind === undefined) return;
    const reader = openBodyFactsReader(kind);
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
    // It keeps a chunk for longer than its memory may last.
    else this.#decoder.write(Buffer.from(chunk));
  }

  /** What was read; undefined when the body could not be decoded. Of a coded body that was cut, the facts before the cut.
   *  To be called when `finished` has resolved, if the body is coded. */
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
