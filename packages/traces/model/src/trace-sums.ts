import { bucketOf } from './latency-histogram.ts';
import { bucketStartOf } from './time-buckets.ts';
import type { TraceRecord } from './trace-record.ts';
import { UsdSum } from './usd.ts';

/** What the traces of one bucket and key add to the sums that a store keeps of them. Times are milliseconds since the epoch. */
export interface TraceSum {
  /** By gateway key: org, workspace, gateway key, credential, provider, model. By model without gateway key and credential; of all tenants
   *  provider and model. */
  readonly key: readonly string[];
  readonly bucketStart: number;
  requests: number;
  errors4xx: number;
  errors5xx: number;
  streams: number;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  readonly cost: UsdSum;
  latencyMs: number;
  latencyMsMin: number;
  latencyMsMax: number;
  firstTokenUs: number;
  /** The latest `timestamp`. */
  lastActive: number;
  firstCreated: number;
  lastCreated: number;
  /** Bucket of the latency -> traces. */
  readonly latencies: Map<number, number>;
}

/** The rows that a batch adds to. Writers lock them in the order of their keys, so that none waits for another in a circle. */
export class TraceSums {
  readonly #sums = new Map<string, TraceSum>();

  /** By gateway key and credential, and by hour. */
  static ofTraces(records: readonly TraceRecord[]): TraceSums {
    const sums = new TraceSums();
    for (const record of records) {
      const { scope, api_key_hash: hash, provider, model } = record;
      const credential = hash === undefined ? '' : Buffer.from(hash).toString('hex');
      const key = [scope.org_id, scope.workspace_id, scope.gateway_key_id, credential, provider, model];
      addTrace(sums.#at(bucketStartOf(record.timestamp, 'hour'), key), record);
    }
    return sums;
  }

  /** The same sums without gateway key and credential. */
  byModel(): TraceSums {
    return this.#folded((sum) => [sum.bucketStart, [...sum.key.slice(0, 2), ...sum.key.slice(4)]]);
  }

  /** What `byModel` gives, without the tenant. */
  byModelOfAllTenants(): TraceSums {
    return this.#folded((sum) => [sum.bucketStart, sum.key.slice(-2)]);
  }

  byDay(): TraceSums {
    return this.#folded((sum) => [bucketStartOf(sum.bucketStart, 'day'), sum.key]);
  }

  sorted(): TraceSum[] {
    return [...this.#sums].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum);
  }

  #folded(keyOf: (sum: TraceSum) => [bucketStart: number, key: readonly string[]]): TraceSums {
    const folded = new TraceSums();
    for (const sum of this.#sums.values()) addSum(folded.#at(...keyOf(sum)), sum);
    return folded;
  }

  #at(bucketStart: number, key: readonly string[]): TraceSum {
    const name = JSON.stringify([bucketStart, ...key]);
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const made = noSum(bucketStart, key);
    this.#sums.set(name, made);
    return made;
  }
}

function noSum(bucketStart: number, key: readonly string[]): TraceSum {
  return {
    key,
    bucketStart,
    requests: 0,
    errors4xx: 0,
    errors5xx: 0,
    streams: 0,
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    cost: new UsdSum(),
    latencyMs: 0,
    latencyMsMin: Number.MAX_SAFE_INTEGER,
    latencyMsMax: 0,
    firstTokenUs: 0,
    lastActive: 0,
    firstCreated: Number.MAX_SAFE_INTEGER,
    lastCreated: 0,
    latencies: new Map(),
  };
}

function addTrace(to: TraceSum, record: TraceRecord): void {
  const { response_status: status, latency_ms: latencyMs, time_to_first_token_us: firstTokenUs, timestamp } = record;
  to.requests += 1;
  if (status >= 500) to.errors5xx += 1;
  else if (status >= 400) to.errors4xx += 1;
  if (firstTokenUs > 0) to.streams += 1;
  to.inputTokens += record.input_tokens;
  to.outputTokens += record.output_tokens;
  to.totalTokens += record.total_tokens;
  to.cost.add(record.estimated_cost_usd);
  to.latencyMs += latencyMs;
  to.firstTokenUs += firstTokenUs;
  widen(to, {
    latencyMsMin: latencyMs,
    latencyMsMax: latencyMs,
    lastActive: timestamp,
    firstCreated: record.created_at,
    lastCreated: record.created_at,
  });
  countLatency(to, bucketOf(latencyMs), 1);
}

function addSum(to: TraceSum, from: TraceSum): void {
  to.requests += from.requests;
  to.errors4xx += from.errors4xx;
  to.errors5xx += from.errors5xx;
  to.streams += from.streams;
  to.inputTokens += from.inputTokens;
  to.outputTokens += from.outputTokens;
  to.totalTokens += from.totalTokens;
  to.cost.addParts(from.cost.thousands, from.cost.pico);
  to.latencyMs += from.latencyMs;
  to.firstTokenUs += from.firstTokenUs;
  widen(to, from);
  for (const [bucket, count] of from.latencies) countLatency(to, bucket, count);
}

type Extremes = Pick<TraceSum, 'latencyMsMin' | 'latencyMsMax' | 'lastActive' | 'firstCreated' | 'lastCreated'>;

function widen(to: TraceSum, by: Extremes): void {
  to.latencyMsMin = Math.min(to.latencyMsMin, by.latencyMsMin);
  to.latencyMsMax = Math.max(to.latencyMsMax, by.latencyMsMax);
  to.lastActive = Math.max(to.lastActive, by.lastActive);
  to.firstCreated = Math.min(to.firstCreated, by.firstCreated);
  to.lastCreated = Math.max(to.lastCreated, by.lastCreated);
}

function countLatency({ latencies }: TraceSum, bucket: number, count: number): void {
  latencies.set(bucket, (latencies.get(bucket) ?? 0) + count);
}
