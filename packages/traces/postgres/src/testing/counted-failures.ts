import type { StatementFailures } from '@vitrine/traces/testing/contract-store';

/** Counts the statements of a pool as its `beforeStatement`, and can make one of them fail like a server error. */
export class CountedFailures implements StatementFailures {
  hasFailed = false;
  #left = Number.POSITIVE_INFINITY;

  failAt(n: number): void {
    this.#left = n;
  }

  statement(): void {
    this.#left -= 1;
    if (this.#left !== 0) return;
    this.hasFailed = true;
    throw Object.assign(new Error('injected failure'), { code: 'XX000' });
  }
}
