import type { Allotment, AllotmentLedger, AllotmentReport, AllotmentTimes } from '../shared-quotas/allotment-ledger.ts';
import { ReportLoop } from '../shared-quotas/report-loop.ts';
import type { RateLimits, RateResult, RequestCounter, ScopeNames } from './request-counter.ts';
import { SharedWindow } from './shared-window.ts';

/** Keys and workspaces together that may have been active within a minute. */
const MAX_WINDOWS = 65_536;
/** Maximum number of reports that a request waits for. Later requests may use up what the first one brought. */
const MAX_ATTEMPTS = 2;

interface SharedRequestCounterOptions extends AllotmentTimes {
  readonly ledger: AllotmentLedger;
  /** Milliseconds on a monotonic clock. */
  readonly clock: () => number;
  /** Called for every failed report. */
  readonly onError: (error: unknown) => void;
  readonly maxWindows?: number;
}

/** The request rates of all processes on one ledger. A request waits for the ledger only when this process has used up its allotment and
 *  may get more: at the first request of a key, and when its rate grows within a second. Spec: G10.7. */
export class SharedRequestCounter implements RequestCounter, AsyncDisposable {
  readonly #options: Required<SharedRequestCounterOptions>;
  readonly #windows = new Map<string, SharedWindow>();
  readonly #reports: ReportLoop<SharedWindow, AllotmentReport, Allotment>;

  constructor(options: SharedRequestCounterOptions) {
    this.#options = { maxWindows: MAX_WINDOWS, ...options };
    this.#reports = new ReportLoop({
      begin: (items) => ({ items, send: (sequence, reports) => options.ledger.report(sequence, reports) }),
      due: (isLast) => this.#due(isLast),
      intervalMs: options.reportIntervalMs,
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

  /** Returns the unused allotments. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reports[Symbol.asyncDispose]();
  }

  /** `report`: no limit is known to be exceeded, but at least one needs a report first. */
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
      const isReported = await this.#reports.reported(this.#unreported(key, workspace, limits));
      if (!isReported) return 'unavailable';
      const result = this.#tryAdmit(key, workspace, limits);
      if (result !== 'report') return result;
    }
    // Other requests were repeatedly faster.
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

  *#due(isLast: boolean): Generator<SharedWindow> {
    const now = this.#options.clock();
    for (const window of this.#windows.values()) {
      if (isLast || window.isDue(now)) yield window;
      else if (window.isIdle(now)) this.#windows.delete(window.name);
    }
  }
}
