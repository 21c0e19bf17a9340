import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import type { DayUsage } from '@vitrine/traces/day-usage';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import { picoIn } from '@vitrine/traces/usd';
import { scopeNames, type ScopeNames } from '../requests/request-counter.ts';

/** Keys and workspaces together with usage on one day. */
const MAX_ACCOUNTS = 100_000;

interface AccountUsage {
  tokens: number;
  /** Trillionths of a dollar. */
  picoUsd: number;
}

export interface DayAccountsOptions {
  readonly maxAccounts?: number | undefined;
  /** Whether estimates of unknown usage and cost count. Spec: G10.17, G10.18. */
  readonly countsUnknown?: boolean | undefined;
}

/** The usage of a key or a workspace on one UTC day: `own` plus `others`. */
export interface DayAccount {
  /** Usage of the exchanges that this process wrote. */
  readonly own: AccountUsage;
  /** Stored usage beyond `own`: of other processes, and of earlier runs of this one. */
  readonly others: AccountUsage;
  /** Usage as of the last read of the store. */
  readonly stored: AccountUsage;
  /** At least the usage of every exchange that this process wrote today: the largest sum of a batch over one key. */
  readonly largest: AccountUsage;
  /** Exchanges of this process that have ended and are neither written nor dropped. */
  unsettled: number;
  /** The sequence number of the last of these exchanges. */
  lastSequence: number;
}

export type EndedExchange = Pick<CapturedExchange, 'scope' | 'outcome'>;

export interface ScopeAccounts {
  readonly key: DayAccount;
  readonly workspace: DayAccount;
}

/** The accounts of one UTC day. */
export class DayAccounts {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly #max: number;
  readonly #countsUnknown: boolean;
  readonly #accounts = new Map<string, DayAccount>();

  constructor(day: string, { maxAccounts = MAX_ACCOUNTS, countsUnknown = true }: DayAccountsOptions = {}) {
    this.day = day;
    this.#max = maxAccounts;
    this.#countsUnknown = countsUnknown;
  }

  /** Undefined when there is no room for another account: then the usage of the scope is unknown. */
  of(names: ScopeNames): ScopeAccounts | undefined {
    const key = this.#account(names.key);
    const workspace = this.#account(names.workspace);
    return key === undefined || workspace === undefined ? undefined : { key, workspace };
  }

  /** The accounts that an exchange of this process will be settled in. Rejected requests are excluded: they have no usage, and a caller over its
   *  limit must not delay others of its workspace. */
  ofExchange({ scope: { org_id, workspace_id, gateway_key_id }, outcome }: EndedExchange): ScopeAccounts | undefined {
    return outcome === 'rejected' ? undefined : this.of(scopeNames(org_id, workspace_id, gateway_key_id));
  }

  /** Adds a written batch of this process. */
  add(usage: readonly DayUsage[]): void {
    for (const row of usage) {
      if (row.day !== this.day) continue;
      const usage = this.#usageIn(row);
      for (const account of this.#accountsOf(row)) {
        addTo(account.own, usage);
        raiseTo(account.largest, usage.tokens, usage.picoUsd);
      }
    }
  }

  /** Adds a read of the store. `rows` may include exchanges of this process, but only those that were passed to `add` before. The excess over
   *  `own` is then usage of others, which never shrinks. So nothing is counted twice, and the next read finds usage of others that this one
   *  missed. */
  read(rows: readonly DayUsage[]): void {
    for (const { stored } of this.#accounts.values()) [stored.tokens, stored.picoUsd] = [0, 0];
    for (const row of rows) {
      if (row.day !== this.day) continue;
      const usage = this.#usageIn(row);
      for (const account of this.#accountsOf(row)) addTo(account.stored, usage);
    }
    for (const { stored, own, others } of this.#accounts.values())
      raiseTo(others, stored.tokens - own.tokens, stored.picoUsd - own.picoUsd);
  }

  #usageIn({ total_tokens, estimated_tokens, cost_usd, cost_upper_usd }: DayUsage): AccountUsage {
    return this.#countsUnknown
      ? { tokens: total_tokens, picoUsd: picoIn(cost_upper_usd, 0) }
      : { tokens: total_tokens - estimated_tokens, picoUsd: picoIn(cost_usd, 0) };
  }

  #accountsOf({ org_id, workspace_id, gateway_key_id }: DayUsage): DayAccount[] {
    const names = scopeNames(org_id, workspace_id, gateway_key_id);
    return [this.#account(names.key), this.#account(names.workspace)].filter((account) => account !== undefined);
  }

  #account(name: string): DayAccount | undefined {
    const known = this.#accounts.get(name);
    if (known !== undefined || this.#accounts.size >= this.#max) return known;
    const none = { own: nothing(), others: nothing(), stored: nothing(), largest: nothing() };
    const account: DayAccount = { ...none, unsettled: 0, lastSequence: 0 };
    this.#accounts.set(name, account);
    return account;
  }
}

function nothing(): AccountUsage {
  return { tokens: 0, picoUsd: 0 };
}

function addTo(to: AccountUsage, more: AccountUsage): void {
  to.tokens += more.tokens;
  to.picoUsd += more.picoUsd;
}

function raiseTo(to: AccountUsage, tokens: number, amount: number): void {
  to.tokens = Math.max(to.tokens, tokens);
  to.picoUsd = Math.max(to.picoUsd, amount);
}

/** `YYYY-MM-DD` of a number of days since the epoch. */
export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
