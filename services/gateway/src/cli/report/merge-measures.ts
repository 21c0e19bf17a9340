import { sumOfCosts } from '@vitrine/traces/measures-to-response';
import type { Measure } from '@vitrine/traces/trace-measures';

/** Sums measures of several tenants by group. Buckets and percentiles are dropped, because percentiles cannot be summed. */
export function mergeMeasures(parts: readonly (readonly Measure[])[]): readonly Measure[] {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const byGroup = new Map<string, Measure>();
  for (const measure of parts.flat()) {
    const known = byGroup.get(measure.group);
    byGroup.set(measure.group, known === undefined ? measure : sumOf(known, measure));
  }
  return [...byGroup.values()].toSorted((left, right) => (left.group < right.group ? -1 : 1));
}

function sumOf(one: Measure, other: Measure): Measure {
  return {
    bucketStart: 0,
    group: one.group,
    requests: one.requests + other.requests,
    errors4xx: one.errors4xx + other.errors4xx,
    errors5xx: one.errors5xx + other.errors5xx,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    cost: sumOfCosts([one, other]),
    latencyMs: one.latencyMs + other.latencyMs,
    latencyMsMin: Math.min(one.latencyMsMin, other.latencyMsMin),
    latencyMsMax: Math.max(one.latencyMsMax, other.latencyMsMax),
    p50Ms: 0,
    p95Ms: 0,
    p99Ms: 0,
    streams: one.streams + other.streams,
    firstTokenUs: one.firstTokenUs + other.firstTokenUs,
    lastActive: Math.max(one.lastActive, other.lastActive),
  };
}
