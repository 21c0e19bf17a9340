import { uncounted } from '@vitrine/traces/background-response';
import { usageSums, type DayUsage } from '@vitrine/traces/day-usage';
import { isKept, isSettled, type RecordFailure, type RecordResult } from '@vitrine/traces/record-writer';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { writeErrorOf } from '@vitrine/traces/write-error';
import type { CapturedExchange } from './captured-exchange.ts';
import { usagePathOf } from './stored-responses.ts';
import { isMissingUsage } from '@vitrine/traces/trace-sums';
import type { TokenUse, UnknownKind, UnknownUse } from './trace-sink.ts';

/** The records of a batch of exchanges, and for each exchange the index of its record or why it has none. */
interface DerivedBatch {
  readonly records: readonly TraceRecord[];
  readonly places: readonly (number | RecordFailure)[];
}

/** Derives the records of a batch, each once. An exchange whose derivation throws loses only its own record. */
export function deriveBatch(
  exchanges: Iterable<CapturedExchange>,
  derive: (exchange: CapturedExchange) => TraceRecord,
): DerivedBatch {
  const records: TraceRecord[] = [];
  const places: (number | RecordFailure)[] = [];
  for (const exchange of exchanges) {
    try {
      places.push(records.push(derive(exchange)) - 1);
    } catch (error) {
      places.push({ operation: 'write_trace', error_class: 'unknown', error: writeErrorOf(error) });
    }
  }
  return { records, places };
}

/** The result of each exchange. `results`: of the records. */
export function resultsOf({ places }: DerivedBatch, results: readonly RecordResult[]): (RecordResult | undefined)[] {
  return places.map((place) => (typeof place === 'number' ? results[place] : place));
}

/** Daily usage per key of the kept records, including already stored ones, because an earlier try of this batch wrote them. Spec: G10.5. */
export function usageOf({ records }: DerivedBatch, results: readonly RecordResult[]): DayUsage[] {
  const kept = records.flatMap((record, at) => (isKept(results[at]) ? countedRecord(record, results[at]) : []));
  return usageSums(kept).map(({ cost, upper, ...usage }) => ({ ...usage, cost_usd: cost.usd, cost_upper_usd: upper.usd }));
}

/** The tokens that providers reported, whether their records were kept or lost. */
export function tokensOf({ records }: DerivedBatch, results: readonly RecordResult[]): TokenUse[] {
  return records
    .map((record, at) => countedRecord(record, results[at]))
    .flatMap((record) => {
      if (record.total_tokens === 0 || record.usage_status === 'estimated') return [];
      const { provider, model, request_method: method, request_path: path, input_tokens, output_tokens } = record;
      return [{ provider, model, path: usagePathOf({ method, path }), input_tokens, output_tokens }];
    });
}

/** Exchanges whose cost or usage is not known, whether their records were kept or lost. Spec: G14.35. */
export function unknownOf({ records }: DerivedBatch, results: readonly RecordResult[]): UnknownUse[] {
  const uses = new Map<string, UnknownUse>();
  for (const [at, record] of records.entries()) {
    const { provider, cost_status, usage_status } = countedRecord(record, results[at]);
    const kinds: UnknownKind[] = [];
    if (cost_status === 'unpriced' || cost_status === 'estimated') kinds.push(cost_status);
    if (isMissingUsage({ cost_status, usage_status })) kinds.push('missing');
    for (const kind of kinds) {
      const name = `${provider} ${kind}`;
      uses.set(name, { provider, kind, count: (uses.get(name)?.count ?? 0) + 1 });
    }
  }
  return [...uses.values()];
}

/** A record as counted. Usage of a background response counts only as settled by the store. */
function countedRecord(record: TraceRecord, result: RecordResult | undefined): TraceRecord {
  if (isSettled(result)) return result.settled;
  return record.background?.role === 'finished' ? uncounted(record) : record;
}
