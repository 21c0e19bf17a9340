import type { RobotsRules } from './reading/parse-robots.ts';

/** RFC 9309 allows a day. An hour is enough for a scan that was postponed by Crawl-delay to continue. */
const KEEP_MS = 3_600_000;
const MAX_ORIGINS = 2_000;
/** Bound of all texts together, because 2,000 of the longest would be a gigabyte. */
const MAX_WEIGHT = 16 * 1024 * 1024;

/** The rules of origins recently read by this process. The oldest are evicted first. */
export class RobotsCache {
  readonly #entries = new Map<string, { readonly rules: RobotsRules; readonly readAt: number }>();
  readonly #now: () => number;
  #weight = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get(origin: string): RobotsRules | undefined {
    const entry = this.#entries.get(origin);
    return entry !== undefined && this.#now() - entry.readAt < KEEP_MS ? entry.rules : undefined;
  }

  set(origin: string, rules: RobotsRules): void {
    if (this.get(origin) === rules) return;
    this.#forget(origin);
    this.#entries.set(origin, { rules, readAt: this.#now() });
    this.#weight += rules.weight;
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= MAX_ORIGINS && this.#weight <= MAX_WEIGHT) break;
      this.#forget(oldest);
    }
  }

  #forget(origin: string): void {
    this.#weight -= this.#entries.get(origin)?.rules.weight ?? 0;
    this.#entries.delete(origin);
  }
}
