import { bucketOf } from './latency-histogram.ts';
import { bucketStartOf } from './time-buckets.ts';
import type { TraceRecord } from './trace-record.ts';
import { UsdSum, usdPartsOf, type UsdParts } from './usd.ts';

const ADDED = [
  'requests',
  'rejected',
  'unpriced',
  'estimated',
  'missingUsage',
  'errors4xx',
  'errors5xx',
  'streams',
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'latencyMs',
  'firstTokenUs',
] as const;
const LEAST = ['latencyMsMin', 'firstCreated'] as const;
const GREATEST = ['latencyMsMax', 'lastActive', 'lastCreated'] as const;

type Figures = Record<(typeof ADDED)[number] | (typeof LEAST)[number] | (typeof GREATEST)[number], number>;

/** The contribution of one or more traces to a sum. Times are milliseconds since the epoch; `lastActive` is the latest `timestamp`. */
interface Addend extends Readonly<Figures> {
  readonly cost: UsdParts;
  readonly upper: UsdParts;
  /** Bucket of the latency -> traces. */
  readonly latencies: ReadonlyMap<number, number>;
}

/** The contribution of the traces of one bucket and key to the stored sums. */
export interface TraceSum extends Figures {
  /** By gateway key: org, workspace, gateway key, credential, provider, model that served. By model without gateway key and credential; of all tenants
   *  provider and model, or nothing. */
  readonly key: readonly string[];
  readonly bucketStart: number;
  readonly cost: UsdSum;
  readonly upper: UsdSum;
  /** Bucket of the latency -> traces. */
  readonly latencies: Map<number, number>;
}

/** The rows to which a batch adds. Writers lock them in key order, to avoid deadlocks. */
export class TraceSums {
  readonly #sums = new Map<string, TraceSum>();

  /** By gateway key and credential, and by hour. */
  static ofTraces(records: readonly TraceRecord[]): TraceSums {
    const sums = new TraceSums();
    for (const record of records) {
      const { scope, api_key_hash: hash, provider } = record;
      const model = record.response_model ?? record.model;
      const credential = hash === undefined ? '' : Buffer.from(hash).toString('hex');
      const key = [scope.org_id, scope.workspace_id, scope.gateway_key_id, credential, provider, model];
      sums.#add(bucketStartOf(record.timestamp, 'hour'), key, addendOf(record));
    }
    return sums;
  }

  /** The same sums without gateway key and credential. */
  byModel(): TraceSums {
    return this.#folded((sum) => [sum.bucketStart, [...sum.key.slice(0, 2), ...sum.key.slice(4)]]);
  }

  /** The rows of `byModel` without the tenant. */
  byModelOfAllTenants(): TraceSums {
    return this.#folded((sum) => [sum.bucketStart, sum.key.slice(-2)]);
  }

  byHour(): TraceSums {
    return this.#folded((sum) => [sum.bucketStart, []]);
  }

  byDay(): TraceSums {
    return this.#folded((sum) => [bucketStartOf(sum.bucketStart, 'day'), sum.key]);
  }

  sorted(): TraceSum[] {
    return [...this.#sums].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum);
  }

  #folded(keyOf: (sum: TraceSum) => [bucketStart: number, key: readonly string[]]): TraceSums {
    const folded = new TraceSums();
    for (const sum of this.#sums.values()) folded.#add(...keyOf(sum), sum);
    return folded;
  }

  #add(bucketStart: number, key: readonly string[], addend: Addend): void {
    const name = JSON.stringify([bucketStart, ...key]);
    const known = this.#sums.get(name);
    if (known !== undefined) return addTo(known, addend);
    const [cost, upper] = [new UsdSum(), new UsdSum()];
    cost.addParts(addend.cost.thousands, addend.cost.pico);
    upper.addParts(addend.upper.thousands, addend.upper.pico);
    this.#sums.set(name, { ...addend, key, bucketStart, cost, upper, latencies: new Map(addend.latencies) });
  }
}

/** Whether an exchange may be charged for a usage that is neither reported nor estimated. */
export function isMissingUsage({ usage_status, cost_status }: Pick<TraceRecord, 'usage_status' | 'cost_status'>): boolean {
  return (usage_status === 'missing' || usage_status === 'undecodable') && cost_status !== 'free';
}

function addendOf(record: TraceRecord): Addend {
  const { response_status: status, latency_ms: latencyMs, time_to_first_token_us: firstTokenUs } = record;
  const { cost_status, estimated_cost_usd, cost_upper_usd = estimated_cost_usd } = record;
  return {
    requests: 1,
    rejected: Number(record.outcome === 'rejected'),
    unpriced: Number(cost_status === 'unpriced'),
    estimated: Number(cost_status === 'estimated'),
    missingUsage: Number(isMissingUsage(record)),
    errors4xx: Number(status >= 400 && status < 500),
    errors5xx: Number(status >= 500),
    streams: Number(firstTokenUs > 0),
    inputTokens: record.input_tokens,
    outputTokens: record.output_tokens,
    totalTokens: record.total_tokens,
    cost: usdPartsOf(estimated_cost_usd),
    upper: usdPartsOf(cost_upper_usd),
    latencyMs,
    latencyMsMin: latencyMs,
    latencyMsMax: latencyMs,
    firstTokenUs,
    lastActive: record.timestamp,
    firstCreated: record.created_at,
    lastCreated: record.created_at,
    latencies: new Map([[bucketOf(latencyMs), 1]]),
  };
}

function addTo(sum: TraceSum, addend: Addend): void {
  for (const name of ADDED) sum[name] += addend[name];
  for (const name of LEAST) sum[name] = Math.min(sum[name], addend[name]);
  for (const name of GREATEST) sum[name] = Math.max(sum[name], addend[name]);
  sum.cost.addParts(addend.cost.thousands, addend.cost.pico);
  sum.upper.addParts(addend.upper.thousands, addend.upper.pico);
  for (const [bucket, count] of addend.latencies) sum.latencies.set(bucket, (sum.latencies.get(bucket) ?? 0) + count);
}
