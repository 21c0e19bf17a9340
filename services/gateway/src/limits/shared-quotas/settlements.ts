import type { ScopeAccounts } from '../quotas/day-accounts.ts';
import { withTimeout } from './report-loop.ts';

/** How long a request near a daily quota waits until the usage of ended exchanges is settled. Usually that takes some milliseconds;
 *  when the writer stalls (`TraceQueue`), the usage is unknown. */
export const SETTLEMENT_WAIT_MAX_MS = 1_000;

interface Waiter {
  readonly sequence: number;
  readonly resolve: (isSettled: boolean) => void;
}

/** Ended exchanges whose usage is not known yet, in the order in which they ended. They are settled in this order. */
export class Settlements {
  /** Oldest first; undefined for those without usage. */
  readonly #queue: (ScopeAccounts | undefined)[] = [];
  #taken = 0;
  #settled = 0;
  readonly #waiters = new Set<Waiter>();

  get areComplete(): boolean {
    return this.#queue.length === 0;
  }

  /** The trace queue has taken an exchange. */
  taken(accounts: ScopeAccounts | undefined): void {
    this.#taken += 1;
    this.#queue.push(accounts);
    if (accounts === undefined) return;
    for (const account of [accounts.key, accounts.workspace]) {
      account.unsettled += 1;
      account.lastSequence = this.#taken;
    }
  }

  /** The usage of the oldest `count` exchanges is in their accounts. */
  settled(count: number): void {
    for (const accounts of this.#queue.splice(0, count)) {
      if (accounts === undefined) continue;
      accounts.key.unsettled -= 1;
      accounts.workspace.unsettled -= 1;
    }
    this.#settled += count;
    for (const { sequence, resolve } of this.#waiters) if (sequence <= this.#settled) resolve(true);
  }

  /** Resolves with true when all exchanges of both accounts that have ended by now are settled, or with false after `maxMs`. */
  async settlement({ key, workspace }: ScopeAccounts, maxMs: number): Promise<boolean> {
    const sequence = Math.max(key.lastSequence, workspace.lastSequence);
    if (sequence <= this.#settled) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { sequence, resolve };
    this.#waiters.add(waiter);
    try {
      return await withTimeout(promise, maxMs, false);
    } finally {
      this.#waiters.delete(waiter);
    }
  }
}
