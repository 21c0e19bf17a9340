import type { Allotment, AllotmentReport } from '../shared-quotas/allotment-ledger.ts';
import type { WindowTimes } from '../requests/shared-window.ts';

interface Row {
  readonly process: string;
  readonly allotted: number;
  readonly wanted: number;
  readonly sequence: number;
  readonly reportedAt: number;
}

/** What the SQL function `report_rate_allotments` does, in memory. */
export class InMemoryAllotmentLedger {
  readonly #times: WindowTimes;
  readonly #rows = new Map<string, Row[]>();

  constructor(times: WindowTimes) {
    this.#times = times;
  }

  report(process: string, sequence: number, reports: readonly AllotmentReport[], now: number): (Allotment | undefined)[] {
    return reports.map((report) => this.#reportOne(process, sequence, report, now));
  }

  #reportOne(process: string, sequence: number, report: AllotmentReport, now: number): Allotment | undefined {
    const { leaseMs, windowMs } = this.#times;
    const rows = (this.#rows.get(report.name) ?? []).filter(({ reportedAt }) => reportedAt >= now - windowMs - leaseMs);
    const own = rows.find((row) => row.process === process);
    const others = rows.filter((row) => row !== own);
    if (own !== undefined && own.sequence >= sequence) return undefined;
    const free = report.limit - sum(others.map(({ allotted }) => allotted));
    const allotted = Math.max(report.held, Math.min(report.most, free));
    const row = { process, allotted, wanted: report.wanted, sequence, reportedAt: now };
    const live = [...others.filter(({ reportedAt }) => reportedAt >= now - leaseMs), row].toSorted((a, b) =>
      a.process < b.process ? -1 : 1,
    );
    const silent = others.filter(({ reportedAt }) => reportedAt < now - leaseMs);
    this.#rows.set(report.name, [...others, row]);
    return {
      allotted,
      demands: live.map(({ wanted }) => wanted),
      position: live.indexOf(row),
      unreported: sum(silent.map((other) => other.allotted)),
    };
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
