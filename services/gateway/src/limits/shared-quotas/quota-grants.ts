import type { QuotaUnit } from '../quotas/quota-check.ts';

/** What a process reports of one daily quota. */
export interface QuotaReport {
  /** See `ScopeNames`. */
  readonly name: string;
  readonly unit: QuotaUnit;
  /** Usage in the day, of all processes together. */
  readonly limit: number;
  /** What the exchanges of this process have used today. */
  readonly used: number;
  /** Usage up to which it may admit requests from the moment of the report; at least `used`. */
  readonly held: number;
  /** Usage up to which it would like to admit requests; at least `held`. */
  readonly wanted: number;
}

/** What the ledger returns for a report. */
export interface QuotaGrant {
  /** The process may admit requests while it has used less than this; at least `held`. */
  readonly allotted: number;
  /** The usage that all processes have reported, this one included. */
  readonly reported: number;
  /** The usage of stored traces. Neither figure exceeds the real usage, and each may include usage that the other lacks. */
  readonly stored: number;
  /** Processes that report this quota, this one included. */
  readonly processes: number;
}

/** A process on one day: `day` is `YYYY-MM-DD`. Its usage never shrinks from report to report. */
export interface QuotaReporter {
  readonly process: string;
  readonly day: string;
}

/** Divides what is left of daily quotas among processes: the usage and the reservations of all processes add up to at most the limit. */
export interface QuotaGrants {
  /** Resolves with one grant for each report, in their order; undefined for one that came after a later one of the same process.
   *  `sequence` grows from call to call. */
  report(
    reporter: QuotaReporter,
    sequence: number,
    reports: readonly QuotaReport[],
  ): Promise<readonly (QuotaGrant | undefined)[]>;
}
