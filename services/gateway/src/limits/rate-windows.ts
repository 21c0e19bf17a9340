import type { ScopeNames } from './scope-names.ts';
import { SlidingWindow, WINDOW_MS } from './sliding-window.ts';

/** Keys and workspaces together that may have been active within a minute. */
export const MAX_WINDOWS = 65_536;
/** How often a process whose windows are all in use looks for one that has become idle. */
const FULL_LOOK_MS = 1_000;

/** Requests a minute; 0 for no limit. */
export interface RateLimits {
  readonly key: number;
  readonly workspace: number;
}

/** Which limit is reached, and when the next request may pass; `full` when there is no room to count a new key. */
export type RateVerdict = { readonly scope: 'key' | 'workspace'; readonly waitMs: number } | 'full' | undefined;

/** The request rates of one process: a sliding minute for every key and workspace that is limited and active.
 *  Spec: gateway, Limits, rules 3 and 6. */
export class RateWindows {
  readonly #max: number;
  readonly #windows = new Map<string, SlidingWindow>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(max = MAX_WINDOWS) {
    this.#max = max;
  }

  get size(): number {
    return this.#windows.size;
  }

  /** Undefined: the request has passed and is counted, for both. One that is refused is counted for neither: a workspace that
   *  is busy must not use up the limits of its keys. `now` never goes back. */
  admit(names: ScopeNames, limits: RateLimits, now: number): RateVerdict {
    const key = limits.key > 0 ? this.#windowOf(names.key, now) : undefined;
    const workspace = limits.workspace > 0 ? this.#windowOf(names.workspace, now) : undefined;
    if (key === 'full' || workspace === 'full') return 'full';
    const keyWaitMs = key?.waitMs(limits.key, now) ?? 0;
    if (keyWaitMs > 0) return { scope: 'key', waitMs: keyWaitMs };
    const workspaceWaitMs = workspace?.waitMs(limits.workspace, now) ?? 0;
    if (workspaceWaitMs > 0) return { scope: 'workspace', waitMs: workspaceWaitMs };
    key?.pass(limits.key, now);
    workspace?.pass(limits.workspace, now);
    return undefined;
  }

  #windowOf(name: string, now: number): SlidingWindow | 'full' {
    const known = this.#windows.get(name);
    if (known !== undefined) return known;
    const isFull = this.#windows.size >= this.#max;
    if (now - this.#sweptAt >= (isFull ? FULL_LOOK_MS : WINDOW_MS)) this.#sweep(now);
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
