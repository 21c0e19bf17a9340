import type { RateLimits, RateResult, RequestCounter, ScopeNames } from './request-counter.ts';
import { SlidingWindow, WINDOW_MS } from './sliding-window.ts';

/** Keys and workspaces together that may have been active within a minute. */
const MAX_WINDOWS = 65_536;
/** How often a full counter looks for idle windows. */
const FULL_SWEEP_INTERVAL_MS = 1_000;

/** The request rates of one process: a sliding window for each limited key and workspace that is active. */
export class InMemoryRequestCounter implements RequestCounter {
  readonly #clock: () => number;
  readonly #max: number;
  readonly #windows = new Map<string, SlidingWindow>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** `clock`: milliseconds on a monotonic clock. */
  constructor(clock: () => number, max = MAX_WINDOWS) {
    this.#clock = clock;
    this.#max = max;
  }

  get size(): number {
    return this.#windows.size;
  }

  admit(names: ScopeNames, limits: RateLimits): RateResult {
    const now = this.#clock();
    const key = limits.key > 0 ? this.#windowOf(names.key, now) : undefined;
    const workspace = limits.workspace > 0 ? this.#windowOf(names.workspace, now) : undefined;
    if (key === 'full' || workspace === 'full') return 'unavailable';
    const keyWaitMs = key?.waitMs(limits.key, now) ?? 0;
    if (keyWaitMs > 0) return { scope: 'key', waitMs: keyWaitMs };
    const workspaceWaitMs = workspace?.waitMs(limits.workspace, now) ?? 0;
    if (workspaceWaitMs > 0) return { scope: 'workspace', waitMs: workspaceWaitMs };
    key?.add(limits.key, now);
    workspace?.add(limits.workspace, now);
    return undefined;
  }

  #windowOf(name: string, now: number): SlidingWindow | 'full' {
    const known = this.#windows.get(name);
    if (known !== undefined) return known;
    const isFull = this.#windows.size >= this.#max;
    if (now - this.#sweptAt >= (isFull ? FULL_SWEEP_INTERVAL_MS : WINDOW_MS)) this.#sweep(now);
    if (this.#windows.size >= this.#max) return 'full';
    const window = new SlidingWindow();
    this.#windows.set(name, window);
    return window;
  }

  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [name, window] of this.#windows) if (window.isIdle(now)) this.#windows.delete(name);
  }
}
