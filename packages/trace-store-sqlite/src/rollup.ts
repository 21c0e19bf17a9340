import { bucketOf } from '@vitrine/traces/latency-histogram';
import { picoIn, PICO_PER_THOUSAND, thousandsIn } from '@vitrine/traces/usd';

/** What roll-ups need of one trace. `scope`, `model` and `credential` are numbers of the dictionaries, times are milliseconds. */
export interface MeasuredTrace {
  readonly scope: number;
  readonly model: number;
  readonly credential: number;
  readonly timestamp: number;
  readonly createdAt: number;
  readonly status: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly costUsd: number;
  readonly latencyMs: number;
  readonly firstTokenUs: number;
}

/** Sums over some traces; two of them can be added. */
export interface Sums {
  requests: number;
  errors4xx: number;
  errors5xx: number;
  streams: number;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** Thousands of dollars, and trillionths below a thousand: see `usd.ts`. */
  costThousands: number;
  costPico: number;
  latencyMs: number;
  firstTokenUs: number;
  latencyMsMin: number;
  latencyMsMax: number;
  tokensMin: number;
  tokensMax: number;
  /** The latest `timestamp`. */
  lastActive: number;
  /** The first and the last `created_at`: where in `traces` they stand. */
  oldest: number;
  newest: number;
}

/** Sums of the traces that share scope, model and credential; a number is 0 where they were added up. */
export interface Rollup extends Sums {
  readonly scope: number;
  readonly model: number;
  readonly credential: number;
  /** Bucket of the latency -> traces; few of many are there, which an array would pay for. */
  readonly latencies: Map<number, number>;
}

export function noSums(): Sums {
  return {
    requests: 0,
    errors4xx: 0,
    errors5xx: 0,
    streams: 0,
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    costThousands: 0,
    costPico: 0,
    latencyMs: 0,
    firstTokenUs: 0,
    latencyMsMin: Number.MAX_SAFE_INTEGER,
    latencyMsMax: 0,
    tokensMin: Number.MAX_SAFE_INTEGER,
    tokensMax: 0,
    lastActive: 0,
    oldest: Number.MAX_SAFE_INTEGER,
    newest: 0,
  };
}

export function addTrace(to: Sums, trace: MeasuredTrace): void {
  const { status, totalTokens, latencyMs, firstTokenUs, timestamp, createdAt } = trace;
  to.requests += 1;
  if (status >= 500) to.errors5xx += 1;
  else if (status >= 400) to.errors4xx += 1;
  if (firstTokenUs > 0) to.streams += 1;
  to.inputTokens += trace.inputTokens;
  to.outputTokens += trace.outputTokens;
  to.totalTokens += totalTokens;
  const thousands = thousandsIn(trace.costUsd);
  addCost(to, thousands, picoIn(trace.costUsd, thousands));
  to.latencyMs += latencyMs;
  to.firstTokenUs += firstTokenUs;
  if (latencyMs < to.latencyMsMin) to.latencyMsMin = latencyMs;
  if (latencyMs > to.latencyMsMax) to.latencyMsMax = latencyMs;
  if (totalTokens < to.tokensMin) to.tokensMin = totalTokens;
  if (totalTokens > to.tokensMax) to.tokensMax = totalTokens;
  if (timestamp > to.lastActive) to.lastActive = timestamp;
  if (createdAt < to.oldest) to.oldest = createdAt;
  if (createdAt > to.newest) to.newest = createdAt;
}

export function addSums(to: Sums, from: Readonly<Sums>): void {
  to.requests += from.requests;
  to.errors4xx += from.errors4xx;
  to.errors5xx += from.errors5xx;
  to.streams += from.streams;
  to.inputTokens += from.inputTokens;
  to.outputTokens += from.outputTokens;
  to.totalTokens += from.totalTokens;
  addCost(to, from.costThousands, from.costPico);
  to.latencyMs += from.latencyMs;
  to.firstTokenUs += from.firstTokenUs;
  if (from.latencyMsMin < to.latencyMsMin) to.latencyMsMin = from.latencyMsMin;
  if (from.latencyMsMax > to.latencyMsMax) to.latencyMsMax = from.latencyMsMax;
  if (from.tokensMin < to.tokensMin) to.tokensMin = from.tokensMin;
  if (from.tokensMax > to.tokensMax) to.tokensMax = from.tokensMax;
  if (from.lastActive > to.lastActive) to.lastActive = from.lastActive;
  if (from.oldest < to.oldest) to.oldest = from.oldest;
  if (from.newest > to.newest) to.newest = from.newest;
}

function addCost(to: Sums, thousands: number, pico: number): void {
  to.costThousands += thousands;
  to.costPico += pico;
  if (to.costPico < PICO_PER_THOUSAND) return;
  to.costPico -= PICO_PER_THOUSAND;
  to.costThousands += 1;
}

/** Roll-ups by what their traces share. */
export class Rollups {
  readonly #byKey = new Map<number | string, Rollup>();

  get size(): number {
    return this.#byKey.size;
  }

  values(): Iterable<Rollup> {
    return this.#byKey.values();
  }

  addTrace(trace: MeasuredTrace): void {
    const rollup = this.#at(trace.scope, trace.model, trace.credential);
    addTrace(rollup, trace);
    addTo(rollup.latencies, bucketOf(trace.latencyMs), 1);
  }

  /** Adds a roll-up, by default under its own numbers. */
  add(from: Rollup, scope: number = from.scope, credential: number = from.credential): void {
    const rollup = this.#at(scope, from.model, credential);
    addSums(rollup, from);
    for (const [bucket, count] of from.latencies) addTo(rollup.latencies, bucket, count);
  }

  /** Takes one out; undefined when there is none. */
  take(scope: number, model: number, credential: number): Rollup | undefined {
    const key = keyOf(scope, model, credential);
    const found = this.#byKey.get(key);
    if (found !== undefined) this.#byKey.delete(key);
    return found;
  }

  #at(scope: number, model: number, credential: number): Rollup {
    const key = keyOf(scope, model, credential);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const made: Rollup = { scope, model, credential, ...noSums(), latencies: new Map() };
    this.#byKey.set(key, made);
    return made;
  }
}

/** A text costs three times a number, and small numbers fit into one. */
function keyOf(scope: number, model: number, credential: number): number | string {
  const isSmall = scope < 2 ** 20 && model < 2 ** 16 && credential < 2 ** 16;
  return isSmall ? (scope * 2 ** 16 + model) * 2 ** 16 + credential : `${scope} ${model} ${credential}`;
}

function addTo(latencies: Map<number, number>, bucket: number, count: number): void {
  latencies.set(bucket, (latencies.get(bucket) ?? 0) + count);
}
