import type { Logger } from '@vitrine/telemetry/logger';
import type { ExchangeBatch } from '@vitrine/trace-derivation/exchange-batch';
import type { BatchResult, TraceSink } from '@vitrine/trace-derivation/trace-sink';

/** A batch that has not ended after this time counts as failed. A locked file costs a batch two waits of 2 s. */
const STUCK_AFTER_MS = 5_000;
/** While writes fail and nothing else is written, a test write is tried at this interval. */
const PROBE_INTERVAL_MS = 5_000;

interface WriteMonitorOptions {
  readonly sink: TraceSink;
  /** Writes what an exchange needs and undoes it. Rejects when that fails. */
  readonly probe: () => Promise<void>;
  /** Milliseconds on a monotonic clock. */
  readonly steadyClock: () => number;
  readonly logger: Logger;
}

/** Writes through a sink and tracks whether writes fail: from a batch that lost a trace, or has been under way for 5 s, until the next
 *  one that is written whole. Without traffic a test write every 5 s checks whether the store is back. */
export class WriteMonitor implements TraceSink, Disposable {
  readonly #options: WriteMonitorOptions;
  /** When the batch in progress was started; undefined without one. */
  #startedAt: number | undefined;
  /** When batches began to fail; undefined while they succeed. */
  #failingSince: number | undefined;
  /** Traces lost since then. */
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;
  #isProbing = false;

  constructor(options: WriteMonitorOptions) {
    this.#options = options;
  }

  get isFailing(): boolean {
    if (this.#failingSince !== undefined) return true;
    return this.#startedAt !== undefined && this.#options.steadyClock() - this.#startedAt >= STUCK_AFTER_MS;
  }

  async write(batch: ExchangeBatch): Promise<BatchResult> {
    const { count } = batch;
    this.#startedAt = this.#options.steadyClock();
    try {
      const result = await this.#options.sink.write(batch);
      this.#ended(count - result.written);
      return result;
    } catch (error) {
      this.#ended(count);
      throw error;
    } finally {
      this.#startedAt = undefined;
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #ended(lost: number): void {
    clearTimeout(this.#timer);
    if (lost === 0) return this.#recovered();
    this.#failingSince ??= this.#options.steadyClock();
    this.#lost += lost;
    this.#probeLater();
  }

  #probeLater(): void {
    this.#timer = setTimeout(() => void this.#probe(), PROBE_INTERVAL_MS).unref();
  }

  async #probe(): Promise<void> {
    // A hanging probe must not take up the places of batches in the worker's queue.
    if (this.#isProbing) return this.#probeLater();
    this.#isProbing = true;
    const lost = this.#lost;
    const isWritten = await this.#options.probe().then(
      () => true,
      () => false,
    );
    this.#isProbing = false;
    // A batch that was written or lost meanwhile is the newer evidence.
    if (this.#failingSince === undefined || this.#lost !== lost) return;
    if (isWritten) this.#recovered();
    else this.#probeLater();
  }

  #recovered(): void {
    if (this.#failingSince === undefined) return;
    const failed_for_ms = Math.round(this.#options.steadyClock() - this.#failingSince);
    this.#options.logger.info({ failed_for_ms, lost: this.#lost }, 'trace writes recovered');
    this.#failingSince = undefined;
    this.#lost = 0;
  }
}
