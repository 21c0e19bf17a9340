/** Forwarded bytes of large bodies between two early collections. */
const COLLECT_AFTER_BYTES = 8 * 1_048_576;

/** The memory of bodies. All exchanges together may keep `maxBytes`, in flight and in the queue. Further bodies are not kept, but the exchange is
 *  still traced and its usage read as it passes. */
export class BodyBudget {
  readonly maxBytes: number;
  heldBytes = 0;
  refusedTotal = 0;
  readonly #collectYoung: () => void;
  #forwardedBytes = 0;

  /** `collectYoung` collects the young generation. */
  constructor(maxBytes: number, collectYoung: () => void) {
    this.maxBytes = maxBytes;
    this.#collectYoung = collectYoung;
  }

  take(bytes: number): boolean {
    if (this.heldBytes + bytes > this.maxBytes) {
      this.refusedTotal += 1;
      return false;
    }
    this.heldBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.heldBytes -= bytes;
  }

  /** Counts forwarded bytes of large bodies that are not kept. The collector does not count their external buffers, and leaves 60 to 80 MB of dead
   *  ones at 100 MB each way; collecting the young generation, half a millisecond every 8 MiB, keeps that below 20 MB. */
  countForwarded(bytes: number): void {
    this.#forwardedBytes += bytes;
    if (this.#forwardedBytes < COLLECT_AFTER_BYTES) return;
    this.#forwardedBytes = 0;
    this.#collectYoung();
  }
}
