import type { DayUsage } from '@vitrine/traces/day-usage';
import { scopeNames, type ScopeNames } from './scope-names.ts';
import { picoUsd } from './thresholds.ts';

/** Keys and workspaces together that may have spent anything on one day. */
export const MAX_ACCOUNTS = 100_000;

export interface AccountUsage {
  tokens: number;
  /** Trillionths of a dollar. */
  picoUsd: number;
}

/** What a key or a workspace has spent on one UTC day: `own` plus `others`. */
export interface DayAccount {
  /** What the exchanges of this process were written with. */
  readonly own: AccountUsage;
  /** What the store has beyond that: everybody else's, and this process's from before it was started. */
  readonly others: AccountUsage;
  /** What the store said last. */
  readonly stored: AccountUsage;
  /** No exchange that this process wrote today has spent more. It is a batch's sum over one key, which none in it exceeds. */
  readonly largest: AccountUsage;
  /** Exchanges of this process that have ended and are neither written nor dropped, */
  unsettled: number;
  /** and the place in the line of the last of them. */
  lastPlace: number;
}

export interface ScopeAccounts {
  readonly key: DayAccount;
  readonly workspace: DayAccount;
}

/** The accounts of one UTC day. */
export class DayAccounts {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly #max: number;
  readonly #accounts = new Map<string, DayAccount>();

  constructor(day: string, max = MAX_ACCOUNTS) {
    this.day = day;
    this.#max = max;
  }

  /** Undefined when there is no room for another: then nobody can tell what the scope has spent. */
  of(names: ScopeNames): ScopeAccounts | undefined {
    const key = this.#account(names.key);
    const workspace = this.#account(names.workspace);
    return key === undefined || workspace === undefined ? undefined : { key, workspace };
  }

  /** A batch of this process was written. */
  add(usage: readonly DayUsage[]): void {
    for (const row of usage) {
      if (row.day !== this.day) continue;
      const usage = usageIn(row);
      for (const account of this.#accountsOf(row)) {
        addTo(account.own, usage);
        raiseTo(account.largest, usage.tokens, usage.picoUsd);
      }
    }
  }

  /** The store was read. `rows` may hold some of this process's exchanges or not, as long as `add` was told of all that
   *  they might hold: what they exceed `own` by is then surely of others, and what others have spent never shrinks. So nothing
   *  is ever counted twice, and what is of others and not seen this time is seen the next. */
  read(rows: readonly DayUsage[]): void {
    for (const { stored } of this.#accounts.values()) [stored.tokens, stored.picoUsd] = [0, 0];
    for (const row of rows) {
      if (row.day !== this.day) continue;
      const usage = usageIn(row);
      for (const account of this.#accountsOf(row)) addTo(account.stored, usage);
    }
    for (const { stored, own, others } of this.#accounts.values())
      raiseTo(others, stored.tokens - own.tokens, stored.picoUsd - own.picoUsd);
  }

  #accountsOf({ org_id, workspace_id, gateway_key_id }: DayUsage): DayAccount[] {
    const names = scopeNames(org_id, workspace_id, gateway_key_id);
    return [this.#account(names.key), this.#account(names.workspace)].filter((account) => account !== undefined);
  }

  #account(name: string): DayAccount | undefined {
    const known = this.#accounts.get(name);
    if (known !== undefined || this.#accounts.size >= this.#max) return known;
    const account = emptyAccount();
    this.#accounts.set(name, account);
    return account;
  }
}

function emptyAccount(): DayAccount {
  return { own: nothing(), others: nothing(), stored: nothing(), largest: nothing(), unsettled: 0, lastPlace: 0 };
}

function nothing(): AccountUsage {
  return { tokens: 0, picoUsd: 0 };
}

function usageIn({ total_tokens, cost_usd }: DayUsage): AccountUsage {
  return { tokens: total_tokens, picoUsd: picoUsd(cost_usd) };
}

function addTo(to: AccountUsage, more: AccountUsage): void {
  to.tokens += more.tokens;
  to.picoUsd += more.picoUsd;
}

function raiseTo(to: AccountUsage, tokens: number, amount: number): void {
  to.tokens = Math.max(to.tokens, tokens);
  to.picoUsd = Math.max(to.picoUsd, amount);
}
