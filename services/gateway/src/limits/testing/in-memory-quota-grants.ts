import type { QuotaGrant, QuotaGrants, QuotaReport, QuotaReporter } from '../shared-quotas/quota-grants.ts';

interface Row {
  readonly process: string;
  readonly used: number;
  allotted: number;
  readonly sequence: number;
  readonly reportedAt: number;
}

/** What the SQL function `report_quota_usage` does, in memory. */
export class InMemoryQuotaGrants implements QuotaGrants {
  /** Usage of stored traces by quota and day; see `quotaKey`. */
  readonly stored = new Map<string, number>();
  readonly #leaseMs: number;
  readonly #clock: () => number;
  readonly #rows = new Map<string, Row[]>();

  constructor(leaseMs: number, clock: () => number) {
    this.#leaseMs = leaseMs;
    this.#clock = clock;
  }

  async report(reporter: QuotaReporter, sequence: number, reports: readonly QuotaReport[]): Promise<(QuotaGrant | undefined)[]> {
    return reports.map((report) => this.reportOne(reporter, sequence, report));
  }

  reportOne({ process, day }: QuotaReporter, sequence: number, report: QuotaReport): QuotaGrant | undefined {
    const key = quotaKey(day, report);
    const now = this.#clock();
    const rows = this.#rows.get(key) ?? [];
    const own = rows.find((row) => row.process === process);
    const others = rows.filter((row) => row !== own);
    for (const row of others) if (row.reportedAt < now - this.#leaseMs) row.allotted = Math.min(row.allotted, row.used);
    if (own !== undefined && own.sequence >= sequence) return undefined;
    const { used, held, wanted, limit } = report;
    const reported = used + sum(others.map((row) => row.used));
    const stored = this.stored.get(key) ?? 0;
    const reserved = sum(others.map((row) => Math.max(0, row.allotted - row.used)));
    const allotted = Math.max(held, Math.min(wanted, used + limit - Math.max(reported, stored) - reserved));
    this.#rows.set(key, [...others, { process, used, allotted, sequence, reportedAt: now }]);
    const processes = 1 + others.filter(({ reportedAt }) => reportedAt >= now - this.#leaseMs).length;
    return { allotted, reported, stored, processes };
  }
}

export function quotaKey(day: string, { name, unit }: Pick<QuotaReport, 'name' | 'unit'>): string {
  return JSON.stringify([day, name, unit]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
