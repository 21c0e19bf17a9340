import type { BodyKind } from '@vitrine/privacy/redaction';
import type { BodyEnding, BodyPart, CapturedBody } from '@vitrine/trace-derivation/captured-exchange';
import type { BodyBudget } from './body-budget.ts';
import { StreamingUsageReader } from './streaming-usage-reader.ts';

/** Up to this size a body is held whole and read later, off the proxy's thread; almost all are. */
const HELD_WHOLE_MAX_BYTES = 65_536;

/** From here on a body's buffers are worth collecting early; streams of text stay below. */
const LARGE_BYTES = 1_048_576;

/** One direction's body while it passes through the proxy: holds its chunks up to a bound; beyond it, reads usage and model from the
 *  chunks as they come and keeps only as much as is to be stored. */
export class BodyCapture {
  bytes = 0;
  kind: BodyKind = undefined;
  coding = '';
  readonly #budget: BodyBudget;
  /** 0 when bodies are not stored. What is stored has no gaps: after the first chunk that did not fit it stays as it is. */
  #storedMaxBytes: number;
  readonly #onDrain: () => void;
  readonly #isMemoryReused: boolean;
  #chunks: Uint8Array[] = [];
  #held = 0;
  #reader: StreamingUsageReader | undefined;

  /** `isMemoryReused`: chunks are overwritten later, so that what is held of them has to be copied. */
  constructor(budget: BodyBudget, storedMaxBytes: number, onDrain: () => void, isMemoryReused = false) {
    this.#budget = budget;
    this.#storedMaxBytes = storedMaxBytes;
    this.#onDrain = onDrain;
    this.#isMemoryReused = isMemoryReused;
  }

  /** Takes the next chunk. */
  push(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.#reader === undefined) {
      // Fifty chunks of a stream kept until its end cost the collector 25 µs and the writer 15; reading them now costs 7.
      const isReadNow = this.kind === 'sse' && this.coding === '' && this.#storedMaxBytes === 0;
      const fits = this.bytes <= Math.max(HELD_WHOLE_MAX_BYTES, this.#storedMaxBytes);
      if (isReadNow || !fits || !this.#hold(chunk)) this.#openReader(chunk);
      return;
    }
    if (this.bytes > LARGE_BYTES) this.#budget.countForwarded(chunk.length);
    this.#store(chunk);
    this.#reader.push(chunk);
  }

  /** Waits for what is read on the side; undefined when there is nothing to wait for. */
  finished(): Promise<void> | undefined {
    return this.#reader?.finished();
  }

  /** Whether the reader is behind: then the stream is to be paused until `onDrain`. */
  get isBehind(): boolean {
    return this.#reader?.isBehind === true;
  }

  /** The body as the trace's maker gets it, once `finished`: what is held of it and what was read; or, when it is held whole and
   *  bodies are not stored, just the value that `find` finds in it. */
  captured(ending: BodyEnding, part: 'model' | 'usage', find: (body: Buffer) => Buffer | undefined): CapturedBody {
    const reader = this.#reader;
    if (reader !== undefined)
      return this.#captured(ending, 'body', this.#chunks, reader.facts(ending !== 'cut') ?? 'undecodable');
    const only = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const isPlainJson = this.kind === 'json' && this.coding === '';
    if (only === undefined || !isPlainJson || this.#storedMaxBytes > 0) return this.#captured(ending, 'body', this.#chunks);
    const found = find(Buffer.from(only.buffer, only.byteOffset, only.byteLength));
    if (found === undefined) return this.#captured(ending, 'body', this.#chunks);
    this.#budget.give(this.#held - found.length);
    return this.#captured(ending, part, [found]);
  }

  #captured(ending: BodyEnding, part: BodyPart, chunks: readonly Uint8Array[], facts?: CapturedBody['facts']): CapturedBody {
    return { ending, part, chunks, bytes: this.bytes, kind: this.kind, coding: this.coding, facts };
  }

  #hold(chunk: Uint8Array): boolean {
    if (!this.#budget.take(chunk.length)) return false;
    this.#chunks.push(this.#isMemoryReused ? Buffer.from(chunk) : chunk);
    this.#held += chunk.length;
    return true;
  }

  #store(chunk: Uint8Array): void {
    if (this.#held >= this.#storedMaxBytes) return;
    if (!this.#hold(chunk.subarray(0, this.#storedMaxBytes - this.#held))) this.#storedMaxBytes = this.#held;
  }

  #openReader(chunk: Uint8Array): void {
    const reader = new StreamingUsageReader(this.kind, this.coding, this.#onDrain);
    this.#reader = reader;
    for (const earlier of this.#chunks) reader.push(earlier);
    if (this.#storedMaxBytes === 0) this.#release();
    else this.#store(chunk);
    reader.push(chunk);
  }

  #release(): void {
    this.#budget.give(this.#held);
    this.#chunks = [];
    this.#held = 0;
  }
}
