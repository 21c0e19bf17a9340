import type { AllotmentLedger, AllotmentTimes } from '../shared-quotas/allotment-ledger.ts';
import { ReportLoop } from '../shared-quotas/report-loop.ts';
import type { RateLimits, RateResult, RequestCounter } from './request-counter.ts';
import type { ScopeNames } from '../scope-names.ts';
import { SharedWindow } from './shared-window.ts';

/** Keys and workspaces together that may have been active within a minute. */
const MAX_WINDOWS = 65_536;
/** Limits in one call of the ledger: some ten milliseconds of the database. */
const MAX_REPORTS = 512;
const CALL_MAX_MS = 2_000;
/** How long a request waits for its limits at most. */
const WAIT_MAX_MS = 1_000;
/** Reports that a request waits for at most: requests that came later may have used up what the first one brought. */
const MAX_ATTEMPTS = 2;

interface SharedRequestCounterOptions extends AllotmentTimes {
  readonly ledger: AllotmentLedger;
  /** Milliseconds on a monotonic clock. */
  readonly clock: () => number;
  /** Called for every failed report. */
  readonly onError: (error: unknown) => void;
  readonly maxWindows?: number;
}

/** The request rates of all processes on one ledger. A request waits for the ledger only where this process holds nothing of its limits and
 *  may get more: at the first request of a key, and when its rate grows within a second. Spec: G10.7. */
export class SharedRequestCounter implements RequestCounter, AsyncDisposable {
  readonly #options: Required<SharedRequestCounterOptions>;
  readonly #windows = new Map<string, SharedWindow>();
  readonly #reports: ReportLoop<SharedWindow>;
  #sequence = 0;
  #isClosing = false;

  constructor(options: SharedRequestCounterOptions) {
    this.#options = { maxWindows: MAX_WINDOWS, ...options };
    this.#reports = new ReportLoop({
      send: (windows) => this.#send(windows),
      due: () => this.#due(),
      intervalMs: this.#options.reportIntervalMs,
      maxItems: MAX_REPORTS,
      callMaxMs: CALL_MAX_MS,
      waitMaxMs: WAIT_MAX_MS,
      clock: this.#options.clock,
      onError: this.#options.onError,
    });
  }

  get size(): number {
    return this.#windows.size;
  }

  admit(names: ScopeNames, limits: RateLimits): RateResult | Promise<RateResult> {
    const key = limits.key > 0 ? this.#windowOf(names.key) : undefined;
    const workspace = limits.workspace > 0 ? this.#windowOf(names.workspace) : undefined;
    if (key === 'none' || workspace === 'none') return 'unavailable';
    const result = this.#tryAdmit(key, workspace, limits);
    return result === 'report' ? this.#admitReported(key, workspace, limits) : result;
  }

  /** Returns what is held and unused. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await this.#reports[Symbol.asyncDispose]();
  }

  /** `report`: limits that are not exceeded need a report first. */
  #tryAdmit(key: SharedWindow | undefined, workspace: SharedWindow | undefined, limits: RateLimits): RateResult | 'report' {
    const now = this.#options.clock();
    const keyState = key?.state(limits.key, now) ?? 'free';
    if (keyState === 'full') return this.#rejected('key', key, now);
    const workspaceState = workspace?.state(limits.workspace, now) ?? 'free';
    if (workspaceState === 'full') return this.#rejected('workspace', workspace, now);
    if (keyState === 'report' || workspaceState === 'report') return 'report';
    key?.add(now);
    workspace?.add(now);
    return undefined;
  }

  async #admitReported(
    key: SharedWindow | undefined,
    workspace: SharedWindow | undefined,
    limits: RateLimits,
  ): Promise<RateResult> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const isReported = await this.#untilReported(this.#unreported(key, workspace, limits));
      if (!isReported) return 'unavailable';
      const result = this.#tryAdmit(key, workspace, limits);
      if (result !== 'report') return result;
    }
    // Other requests were faster, again and again.
    const [full] = this.#unreported(key, workspace, limits);
    return this.#rejected(full === key ? 'key' : 'workspace', full, this.#options.clock());
  }

  #unreported(key: SharedWindow | undefined, workspace: SharedWindow | undefined, limits: RateLimits): SharedWindow[] {
    const now = this.#options.clock();
    const isUnreported = (window: SharedWindow | undefined, limit: number) => window?.state(limit, now) === 'report';
    return [
      ...(key !== undefined && isUnreported(key, limits.key) ? [key] : []),
      ...(workspace !== undefined && isUnreported(workspace, limits.workspace) ? [workspace] : []),
    ];
  }

  async #untilReported(windows: readonly SharedWindow[]): Promise<boolean> {
    for (const window of windows) window.waiting += 1;
    const reported = await Promise.all(windows.map((window) => this.#reports.reported(window)));
    for (const window of windows) window.waiting -= 1;
    return reported.every(Boolean);
  }

  /** A slot is free again when a request of this process expires, or another process has returned one. */
  #rejected(scope: 'key' | 'workspace', window: SharedWindow | undefined, now: number): RateResult {
    const { reportIntervalMs } = this.#options;
    const waitMs = window?.reject(now) ?? reportIntervalMs;
    return { scope, waitMs: Number.isFinite(waitMs) && waitMs > 0 ? waitMs : reportIntervalMs };
  }

  #windowOf(name: string): SharedWindow | 'none' {
    const known = this.#windows.get(name);
    if (known !== undefined) return known;
    if (this.#windows.size >= this.#options.maxWindows) return 'none';
    const window = new SharedWindow(name, this.#options);
    this.#windows.set(name, window);
    return window;
  }

  *#due(): Generator<SharedWindow> {
    const now = this.#options.clock();
    for (const window of this.#windows.values()) {
      if (this.#isClosing || window.isDue(now)) yield window;
      else if (window.isIdle(now)) this.#windows.delete(window.name);
    }
  }

  async #send(windows: readonly SharedWindow[]): Promise<void> {
    this.#sequence += 1;
    const sequence = this.#sequence;
    const sentAt = this.#options.clock();
    const reports = windows.map((window) => window.report(sentAt, this.#isClosing));
    const allotments = await this.#options.ledger.report(sequence, reports);
    // A late response would grant what a later report has returned.
    if (sequence !== this.#sequence) return;
    for (const [i, window] of windows.entries()) {
      const allotment = allotments[i];
      if (allotment !== undefined) window.confirm(allotment, sentAt);
    }
  }
}
