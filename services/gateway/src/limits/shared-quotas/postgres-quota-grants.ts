import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { QuotaGrant, QuotaGrants, QuotaReport, QuotaReporter } from './quota-grants.ts';

const REPORT = `SELECT allotted, reported, stored, processes
  FROM report_quota_usage($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ORDER BY number`;

interface GrantRow {
  readonly allotted: string | null;
  readonly reported: string;
  readonly stored: string;
  readonly processes: number;
}

/** Grants by the table `quota_reservations`, one row for each day, quota and process. One round trip a call. */
export class PostgresQuotaGrants implements QuotaGrants {
  readonly #pool: PostgresPool;
  readonly #leaseMs: number;
  readonly #countsUnknown: boolean;

  /** `countsUnknown`: whether estimates of unknown usage and cost in stored traces count. */
  constructor(pool: PostgresPool, leaseMs: number, countsUnknown = true) {
    this.#pool = pool;
    this.#leaseMs = leaseMs;
    this.#countsUnknown = countsUnknown;
  }

  async report(
    { process, day }: QuotaReporter,
    sequence: number,
    reports: readonly QuotaReport[],
  ): Promise<(QuotaGrant | undefined)[]> {
    const columns = (['name', 'unit', 'limit', 'used', 'held', 'wanted'] as const).map((column) =>
      reports.map((report) => report[column]),
    );
    const values = [process, sequence, day, this.#leaseMs, ...columns, this.#countsUnknown];
    const rows = await this.#pool.query<GrantRow>(REPORT, values, { name: 'report_quota_usage' });
    return rows.map(({ allotted, reported, stored, processes }) =>
      allotted === null
        ? undefined
        : { allotted: Number(allotted), reported: Number(reported), stored: Number(stored), processes },
    );
  }

  /** Removes reservations of past days. */
  async removeOld(): Promise<void> {
    await this.#pool.query('SELECT remove_old_quota_reservations()');
  }
}
