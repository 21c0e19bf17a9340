/** Bytes of bodies that all exchanges together may hold in memory, in flight and in the queue. What does not fit is not kept: the
 *  exchange is still traced, its usage still read while it passes. */
export class BodyBudget {
  readonly maxBytes: number;
  heldBytes = 0;
  refusedTotal = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
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
}
