import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { ExchangeBatch, heldBytes } from '@vitrine/trace-derivation/exchange-batch';
import type { BatchResult, TraceSink } from '@vitrine/trace-derivation/trace-sink';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { allLost } from '@vitrine/traces/write-result';
import type { BodyBudget } from './body-budget.ts';
import type { Drop } from './drop.ts';
import { createQueueCounters, type QueueCounters } from './queue-counters.ts';

/** A batch in progress for longer than this means that the writer is stalled. Nothing waits for it then. */
const STANDS_STILL_AFTER_MS = 1_000;
/** A batch ends at this many bytes, regardless of its count. */
const BATCH_MAX_BYTES = 8 * 1_048_576;
/** The memory of a written batch is used for another one, up to this size. Fresh memory for every batch must be cleared by the kernel. To the
 *  receiving thread's collector it looks like a growing heap, which was seen to be fully collected ten times a second. */
const MEMORY_MAX_BYTES = 4 * 1_048_576;
/** Batches start at least this far apart while they are small. A batch costs 60 to 100 µs whatever its size (a message each way, a
 *  transaction, cold caches): at 10 ms, a trace took a third more of the writer's time. An idle writer
 *  still takes a trace at once. */
const BATCH_INTERVAL_MS = 25;
/** A queue that has dropped a trace counts as full for this long, because it is repeatedly full for moments only while the writer works. */
const SATURATED_FOR_MS = 10_000;
/** How long a new request may be delayed while the queue is almost full. Spec: G12.3. */
const ADMISSION_DELAY_MAX_MS = 100;

interface TraceQueueOptions {
  readonly capacity: number;
  readonly batch: number;
  readonly sink: TraceSink;
  readonly budget: BodyBudget;
  /** Milliseconds since the epoch, for the diagnostics. */
  readonly clock: () => number;
  /** Milliseconds on a monotonic clock. With the wall clock, a batch would wait after the clock was set back. */
  readonly steadyClock: () => number;
  /** Called for every drop, for the log. */
  readonly onDrop: (drop: Drop) => void;
  readonly ledger?: TraceLedger | undefined;
}

/** Records usage. Exchanges are settled in the order in which they were taken. */
export interface TraceLedger {
  taken(exchange: CapturedExchange): void;
  /** The oldest `count` of those taken are written, with this usage, or dropped. */
  settled(count: number, usage: readonly DayUsage[]): void;
}

/** The bounded queue between the proxy and the store: first in, first out, one batch in progress, no flush timer. When it is full the newest trace
 *  is dropped and counted. Spec: G12.1 to G12.4, G12.12. */
export class TraceQueue {
  readonly counters: QueueCounters = createQueueCounters();
  readonly capacity: number;
  readonly #options: TraceQueueOptions;
  readonly #heldBack = new Set<() => void>();
  /** Batches in the order they will leave; the last one is being filled. */
  readonly #waiting: ExchangeBatch[] = [];
  #waitingCount = 0;
  #underWay = 0;
  #lastBatchBytes = 0;
  #memory: Buffer<ArrayBuffer> | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #droppedAt = Number.NEGATIVE_INFINITY;
  #isDraining = false;
  #drained = Promise.withResolvers<void>();

  constructor(options: TraceQueueOptions) {
    this.#options = options;
    this.capacity = options.capacity;
  }

  /** Traces waiting or in progress. */
  get depth(): number {
    return this.#waitingCount + this.#underWay;
  }

  /** Whether it is full, or was a moment ago. */
  get isSaturated(): boolean {
    return this.depth >= this.capacity || this.#options.steadyClock() - this.#droppedAt < SATURATED_FOR_MS;
  }

  /** Takes a finished exchange. Returns false when the queue was full and the exchange is lost. */
  enqueue(exchange: CapturedExchange): boolean {
    if (this.depth >= this.capacity) {
      this.#options.budget.give(heldBytes(exchange.request) + heldBytes(exchange.response));
      this.counters.enqueueDropped += 1;
      this.counters.lastEnqueueDropAt = this.#options.clock();
      this.#droppedAt = this.#options.steadyClock();
      this.#options.onDrop({ where: 'enqueue', count: 1 });
      return false;
    }
    this.#filling().add(exchange);
    this.#waitingCount += 1;
    this.counters.enqueueAccepted += 1;
    this.#options.ledger?.taken(exchange);
    if (this.depth > this.counters.highWatermark) this.counters.highWatermark = this.depth;
    if (this.#timer === undefined || this.#waitingCount === this.#options.batch) this.#schedule();
    return true;
  }

  /** Whether a new request should be delayed, because everything in flight might not fit into the queue. A queue that is less than half full never
   *  delays a request, however many streams are open. */
  shouldDelay(inFlight: number): boolean {
    const depth = this.depth;
    return depth + inFlight >= this.capacity && depth * 2 >= this.capacity && this.#makesProgress();
  }

  /** Resolves when a batch has left the queue, after at most `ADMISSION_DELAY_MAX_MS`. */
  room(): Promise<void> {
    this.counters.admissionDelayed += 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    const release = () => {
      clearTimeout(timer);
      this.#heldBack.delete(release);
      resolve();
    };
    const timer = setTimeout(release, ADMISSION_DELAY_MAX_MS);
    this.#heldBack.add(release);
    return promise;
  }

  /** Resolves when the queue is empty and no batch is in progress. From now on batches are not paced. */
  drained(): Promise<void> {
    this.#isDraining = true;
    if (this.depth === 0) return Promise.resolve();
    this.#schedule();
    return this.#drained.promise;
  }

  #makesProgress(): boolean {
    return this.#underWay === 0 || this.#options.steadyClock() - this.#startedAt < STANDS_STILL_AFTER_MS;
  }

  #schedule(): void {
    if (this.#underWay > 0) return;
    clearTimeout(this.#timer);
    const isPaced = this.#waitingCount < this.#options.batch && !this.#isDraining;
    const delayMs = isPaced ? this.#startedAt + BATCH_INTERVAL_MS - this.#options.steadyClock() : 0;
    this.#timer = setTimeout(() => this.#start(), Math.max(0, delayMs));
  }

  #start(): void {
    this.#timer = undefined;
    const batch = this.#waiting.shift();
    if (batch === undefined) return;
    this.#waitingCount -= batch.count;
    this.#underWay = batch.count;
    this.#lastBatchBytes = batch.bytes;
    this.#startedAt = this.#options.steadyClock();
    this.#options.budget.give(batch.bodyBytes);
    const writing = this.#options.sink.write(batch);
    writing.then(
      (result) => this.#ended(result),
      (error: unknown) => this.#ended(allLost(batch.count, writeErrorOf(error))),
    );
  }

  #ended(result: BatchResult): void {
    if (result.memory !== undefined && result.memory.length <= MEMORY_MAX_BYTES) this.#memory = result.memory;
    this.counters.written += result.written;
    for (const failure of result.failures) {
      this.counters.writeDropped += failure.count;
      this.counters.failuresByClass[failure.error_class] += failure.count;
      this.counters.lastWriteDropAt = this.#options.clock();
      this.counters.lastWriteDropOperation = failure.operation;
      this.#options.onDrop({ where: 'write', ...failure });
    }
    const settled = this.#underWay;
    this.#underWay = 0;
    this.#options.ledger?.settled(settled, result.usage ?? []);
    for (const release of this.#heldBack) release();
    if (this.#waitingCount > 0) this.#schedule();
    else {
      this.#drained.resolve();
      this.#drained = Promise.withResolvers<void>();
    }
  }

  #filling(): ExchangeBatch {
    const last = this.#waiting.at(-1);
    if (last !== undefined && !last.isFull && last.bytes < BATCH_MAX_BYTES) return last;
    const batch = new ExchangeBatch(this.#options.batch, this.#lastBatchBytes, this.#memory);
    this.#memory = undefined;
    this.#waiting.push(batch);
    return batch;
  }
}
