import { randomUUID } from 'node:crypto';
import { DayAccounts, type DayAccount, type ScopeAccounts } from './day-accounts.ts';
import type { QuotaUnit } from './check-quotas.ts';
import type { QuotaReporter } from '../shared-quotas/quota-grants.ts';
import { QuotaReservation } from './quota-reservation.ts';
import type { ScopeNames } from '../scope-names.ts';

type Reservations = Readonly<Record<QuotaUnit, QuotaReservation>>;

export interface ScopeReservations {
  readonly accounts: ScopeAccounts;
  readonly key: Reservations;
  readonly workspace: Reservations;
}

/** What this process has used and reserved on one UTC day. It reports by a new id for each day, so that what it reports only grows, also
 *  when the clock is put back to a day that it has left. */
export class ReservationDay implements QuotaReporter {
  /** Days since the epoch. */
  readonly number: number;
  readonly day: string;
  readonly process: string = randomUUID();
  readonly accounts: DayAccounts;
  readonly #leaseMs: number;
  readonly #reservations = new Map<DayAccount, Reservations>();
  /** Those of a key and its workspace: found by object rather than by two long names. */
  readonly #scopes = new WeakMap<ScopeNames, ScopeReservations>();

  constructor(
    number: number,
    day: string,
    { leaseMs, maxAccounts }: { readonly leaseMs: number; readonly maxAccounts?: number },
  ) {
    this.number = number;
    this.day = day;
    this.#leaseMs = leaseMs;
    this.accounts = new DayAccounts(day, maxAccounts);
  }

  /** Undefined when there is no room for another account. */
  of(names: ScopeNames): ScopeReservations | undefined {
    const known = this.#scopes.get(names);
    if (known !== undefined) return known;
    const accounts = this.accounts.of(names);
    if (accounts === undefined) return undefined;
    const scope = {
      accounts,
      key: this.#reservationsOf(names.key, accounts.key),
      workspace: this.#reservationsOf(names.workspace, accounts.workspace),
    };
    this.#scopes.set(names, scope);
    return scope;
  }

  has(reservation: QuotaReservation): boolean {
    return this.#reservations.get(reservation.account)?.[reservation.unit] === reservation;
  }

  *reservations(): Generator<QuotaReservation> {
    for (const { tokens, picoUsd } of this.#reservations.values()) {
      yield tokens;
      yield picoUsd;
    }
  }

  #reservationsOf(name: string, account: DayAccount): Reservations {
    const known = this.#reservations.get(account);
    if (known !== undefined) return known;
    const of = (unit: QuotaUnit) => new QuotaReservation(name, unit, account, this.#leaseMs);
    const made = { tokens: of('tokens'), picoUsd: of('picoUsd') };
    this.#reservations.set(account, made);
    return made;
  }
}
