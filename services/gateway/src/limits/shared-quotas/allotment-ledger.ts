/** What a process reports of one limit. */
export interface AllotmentReport {
  readonly name: string;
  /** Requests in any window, of all processes together. */
  readonly limit: number;
  /** The part of the limit that the process keeps from the moment of the report; at least `used`. */
  readonly held: number;
  /** Requests that it admitted in the last window. */
  readonly used: number;
  /** The part of the limit that it could use until its next report, */
  readonly wanted: number;
  /** and how much of that it takes: no more than its fair share by the last report, or others would never get what it returns. */
  readonly most: number;
}

/** What the ledger returns for a report. */
export interface Allotment {
  /** The part of the limit that the process may use from now on; at least `held`. */
  readonly allotted: number;
  /** What each process that reports this limit wants, this one included, in one order for all of them, */
  readonly demands: readonly number[];
  /** the place of this process among them, */
  readonly position: number;
  /** and the part of the limit that processes hold which have ceased to report. */
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
  /** A process admits nothing by an allotment whose last report was sent longer ago. */
  readonly leaseMs: number;
}

/** Of a window of a minute: reports every second, leases of ten. */
export function allotmentTimes(windowMs: number): AllotmentTimes {
  return { windowMs, reportIntervalMs: Math.ceil(windowMs / 60), leaseMs: Math.ceil(windowMs / 6) };
}
