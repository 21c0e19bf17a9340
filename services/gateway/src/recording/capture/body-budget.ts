/** The memory of bodies. All exchanges together may keep `maxBytes`, in flight and in the queue. Further bodies are not kept, but the exchange is
 *  still traced and its usage read as it passes. */
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
