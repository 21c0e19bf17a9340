/** What a process reports of one limit. */
export interface AllotmentReport {
  readonly name: string;
  /** Requests in any window, of all processes together. */
  readonly limit: number;
  /** The part of the limit that the process keeps from the moment of the report; at least `used`. */
  readonly held: number;
  /** Requests that it admitted in the last window. */
  readonly used: number;
  /** The part of the limit that it could use until its next report. */
  readonly wanted: number;
  /** How much of `wanted` it takes: at most its fair share by the last report, or others would never get what it returns. */
  readonly most: number;
}

/** What the ledger returns for a report. */
export interface Allotment {
  /** The part of the limit that the process may use from now on; at least `held`. */
  readonly allotted: number;
  /** The demands of all processes that report this limit, this one included, in the same order for all of them. */
  readonly demands: readonly number[];
  /** The index of this process in that order. */
  readonly position: number;
  /** The part of the limit that is reserved by processes that stopped reporting. */
  readonly unreported: number;
}

/** Divides limits among processes: for each limit, the allotments of all processes together never exceed it. */
export interface AllotmentLedger {
  /** Resolves with one allotment for each report, in their order; undefined for one that came after a later one of the same process.
   *  `sequence` grows from call to call. */
  report(sequence: number, reports: readonly AllotmentReport[]): Promise<readonly (Allotment | undefined)[]>;
}

export interface AllotmentTimes {
  /** How long an admitted request counts. */
  readonly windowMs: number;
  /** How often a process reports. */
  readonly reportIntervalMs: number;
  /** A process admits nothing from an allotment whose last report is older than this. */
  readonly leaseMs: number;
}

/** Timings for a window of a minute: reports every second, leases of 10 s. */
export function allotmentTimes(windowMs: number): AllotmentTimes {
  return { windowMs, reportIntervalMs: Math.ceil(windowMs / 60), leaseMs: Math.ceil(windowMs / 6) };
}
