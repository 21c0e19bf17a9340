import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { randomUUID } from 'node:crypto';
import type { Allotment, AllotmentLedger, AllotmentReport } from './allotment-ledger.ts';
import type { WindowTimes } from '../requests/shared-window.ts';

const REPORT = `SELECT allotted, demands, place, unreported
  FROM report_rate_allotments($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ORDER BY number`;

interface AllotmentRow {
  readonly allotted: number | null;
  readonly demands: number[];
  /** From 1 on. */
  readonly place: number;
  readonly unreported: number;
}

/** Allotments in the table `rate_allotments`, one row for each limit and process. One round trip a call. */
export class PostgresAllotmentLedger implements AllotmentLedger {
  readonly #pool: PostgresPool;
  readonly #times: WindowTimes;
  readonly #process: string = randomUUID();

  constructor(pool: PostgresPool, times: WindowTimes) {
    this.#pool = pool;
    this.#times = times;
  }

  async report(sequence: number, reports: readonly AllotmentReport[]): Promise<(Allotment | undefined)[]> {
    const { windowMs, leaseMs } = this.#times;
    const columns = (['name', 'limit', 'held', 'used', 'most', 'wanted'] as const).map((column) =>
      reports.map((report) => report[column]),
    );
    const values = [this.#process, sequence, windowMs, leaseMs, ...columns];
    const rows = await this.#pool.query<AllotmentRow>(REPORT, values, { name: 'report_rate_allotments' });
    return rows.map(({ allotted, demands, place, unreported }) =>
      allotted === null ? undefined : { allotted, demands, position: place - 1, unreported },
    );
  }

  /** Removes rows that no longer count. */
  async removeExpired(): Promise<void> {
    const { windowMs, leaseMs } = this.#times;
    await this.#pool.query('SELECT remove_expired_allotments($1)', [windowMs + leaseMs]);
  }
}
