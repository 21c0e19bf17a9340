import { bucketOf } from '@vitrine/traces/latency-histogram';
import { bucketStartOf } from '@vitrine/traces/time-buckets';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { UsdSum } from '@vitrine/traces/usd';

/** What the traces of one bucket and key add to their row of `trace_sums_*`. */
export interface TraceSum {
  /** The values of the key after `bucket_start`. */
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
  lastActive: number;
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
    // Texts that are stored have no U+0000.
    const name = `${bucketStart}\0${key.join('\0')}`;
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
  widen(to, latencyMs, latencyMs, timestamp);
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
  widen(to, from.latencyMsMin, from.latencyMsMax, from.lastActive);
  for (const [bucket, count] of from.latencies) countLatency(to, bucket, count);
}

function widen(to: TraceSum, latencyMsMin: number, latencyMsMax: number, lastActive: number): void {
  to.latencyMsMin = Math.min(to.latencyMsMin, latencyMsMin);
  to.latencyMsMax = Math.max(to.latencyMsMax, latencyMsMax);
  to.lastActive = Math.max(to.lastActive, lastActive);
}

function countLatency({ latencies }: TraceSum, bucket: number, count: number): void {
  latencies.set(bucket, (latencies.get(bucket) ?? 0) + count);
}
