import { BodyChunks } from '@vitrine/http-api/requests/body-chunks';
import { bodyKindOf } from '@vitrine/privacy/bodies/body-kind';
import type { BodyKind } from '@vitrine/privacy/redaction';
import { boundaryOf } from '@vitrine/trace-derivation/multipart/boundary';
import type { BodyEnding, CapturedBody } from '@vitrine/trace-derivation/captured-exchange';
import { StreamingUsageReader } from '@vitrine/trace-derivation/streaming-usage-reader';
import type { BodyBudget } from './body-budget.ts';

/** Up to this size a body is kept whole and read later, off the proxy's thread. Almost all bodies are smaller. */
const HELD_WHOLE_MAX_BYTES = 65_536;

/** Captures the body of one direction. Keeps its chunks up to a bound. Beyond it, reads usage and model from the chunks as they arrive and keeps
 *  only the part to be stored. */
export class BodyCapture {
  bytes = 0;
  kind: BodyKind = undefined;
  coding = '';
  /** Of a form. */
  boundary: string | undefined;
  readonly #budget: BodyBudget;
  /** 0 when bodies are not stored. The stored part has no gaps: nothing is added after the first chunk that did not fit. */
  #storedMaxBytes: number;
  readonly #onDrain: () => void;
  readonly #isMemoryReused: boolean;
  #chunks = new BodyChunks();
  #held = 0;
  #reader: StreamingUsageReader | undefined;

  /** `isMemoryReused`: chunks are overwritten later, so kept ones must be copied. */
  constructor(budget: BodyBudget, storedMaxBytes: number, onDrain: () => void, isMemoryReused = false) {
    this.#budget = budget;
    this.#storedMaxBytes = storedMaxBytes;
    this.#onDrain = onDrain;
    this.#isMemoryReused = isMemoryReused;
  }

  /** Of a request. */
  setContentType(contentType: string | undefined): void {
    this.kind = bodyKindOf(contentType);
    if (this.kind === 'form') this.boundary = boundaryOf(contentType);
  }

  /** Takes the next chunk. */
  push(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#reader === undefined) {
      // Fifty chunks of a stream kept until its end cost the collector 25 µs and the writer 15; reading them now costs 7.
      const isReadNow = this.kind === 'sse' && this.coding === '' && this.#storedMaxBytes === 0;
      const fits = this.bytes <= Math.max(HELD_WHOLE_MAX_BYTES, this.#storedMaxBytes);
      if (isReadNow || !fits || !this.#hold(chunk)) this.#openReader(chunk);
      return;
    }
    this.#store(chunk);
    this.#reader.push(chunk);
  }

  /** Waits for the usage reader; undefined when there is nothing to wait for. */
  finished(): Promise<void> | undefined {
    return this.#reader?.finished();
  }

  /** Whether the reader is behind. The stream must pause until `onDrain`. */
  get isBehind(): boolean {
    return this.#reader?.isBehind === true;
  }

  /** The body for derivation, once `finished`: the kept bytes, and the facts that were read as it passed. */
  captured(ending: BodyEnding): CapturedBody {
    const { bytes, kind, coding, boundary } = this;
    const facts = this.#reader && (this.#reader.facts(ending !== 'cut') ?? 'undecodable');
    return { ending, chunks: this.#chunks.list, bytes, kind, boundary, coding, facts };
  }

  #hold(chunk: Buffer): boolean {
    if (!this.#budget.take(chunk.length)) return false;
    this.#chunks.push(this.#isMemoryReused ? Buffer.from(chunk) : chunk);
    this.#held += chunk.length;
    return true;
  }

  #store(chunk: Buffer): void {
    if (this.#held >= this.#storedMaxBytes) return;
    if (!this.#hold(chunk.subarray(0, this.#storedMaxBytes - this.#held))) this.#storedMaxBytes = this.#held;
  }

  #openReader(chunk: Buffer): void {
    const reader = new StreamingUsageReader(this, this.#onDrain);
    this.#reader = reader;
    for (const earlier of this.#chunks.list) reader.push(earlier);
    if (this.#storedMaxBytes === 0) this.#release();
    else this.#store(chunk);
    reader.push(chunk);
  }

  #release(): void {
    this.#budget.give(this.#held);
    this.#chunks = new BodyChunks();
    this.#held = 0;
  }
}
