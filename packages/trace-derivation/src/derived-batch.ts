import type { DayUsage } from '@vitrine/traces/day-usage';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import { isKept, type RecordBatch, type RecordResult } from '@vitrine/traces/record-writer';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { dayUsageOf, UsageTally } from '@vitrine/traces/usage-tally';
import type { CapturedExchange } from './captured-exchange.ts';
import { deriveTrace, type DerivationContext } from './derive-trace.ts';
import { usagePathOf } from './stored-responses.ts';
import type { TokenUse } from './trace-sink.ts';

/** What is to be said of a batch beside what became of it. */
export interface DerivationReports {
  /** What its records add to the days of their keys. */
  readonly reportsUsage: boolean;
  /** The tokens that its exchanges used. */
  readonly reportsTokens: boolean;
}

interface RecordIds {
  readonly createId: (createdAtMs: number) => Uint8Array<ArrayBuffer>;
}

interface DerivedUsage {
  readonly scope: ExchangeScope;
  readonly createdAt: number;
  readonly totalTokens: number;
  readonly costUsd: number;
  readonly tokens: TokenUse | undefined;
}

/** The records of a batch of exchanges, made while they are read, and what they use. However often an exchange is read, its record has the
 *  same id, and its usage counts once. */
export class DerivedBatch implements RecordBatch {
  readonly count: number;
  readonly #exchanges: () => Iterator<CapturedExchange, void>;
  readonly #context: DerivationContext & RecordIds;
  readonly #reports: DerivationReports;
  readonly #ids: Uint8Array<ArrayBuffer>[] = [];
  readonly #usage: DerivedUsage[] = [];
  readonly #omitted = new Set<number>();
  #deriving = 0;

  constructor(
    count: number,
    exchanges: () => Iterator<CapturedExchange, void>,
    context: DerivationContext & RecordIds,
    reports: DerivationReports,
  ) {
    this.count = count;
    this.#exchanges = exchanges;
    this.#context = { ...context, onBodiesOmitted: () => this.#omitted.add(this.#deriving) };
    this.#reports = reports;
  }

  /** No generator: that would end with the first exchange whose derivation throws. */
  records(): IterableIterator<TraceRecord, void> {
    const exchanges = this.#exchanges();
    let at = 0;
    const next = (): IteratorResult<TraceRecord, void> => {
      const { value, done } = exchanges.next();
      return done === true ? { done, value } : { done: false, value: this.#derive(value, at++) };
    };
    const reading: IterableIterator<TraceRecord, void> = { next, [Symbol.iterator]: () => reading };
    return reading;
  }

  /** What the records that were kept add to the days of their keys, those that were there already too: as they were written by an earlier
   *  try of this batch. Spec: gateway, Limits, rule 3. */
  usage(results: readonly RecordResult[]): DayUsage[] {
    const tally = new UsageTally<ExchangeScope>();
    this.#usage.forEach(({ scope, createdAt, totalTokens, costUsd }, at) => {
      if (isKept(results[at])) tally.add(scope, createdAt, totalTokens, costUsd);
    });
    return Array.from(tally.values(), (used) => dayUsageOf(used, used.scope));
  }

  /** What providers reported, whatever became of the records. */
  tokens(): TokenUse[] {
    return this.#usage.flatMap(({ tokens }) => tokens ?? []);
  }

  /** Records without bodies because their exchanges took too long. */
  get bodiesOmitted(): number {
    return this.#omitted.size;
  }

  #derive(exchange: CapturedExchange, at: number): TraceRecord {
    this.#deriving = at;
    this.#ids[at] ??= this.#context.createId(exchange.endedAt);
    const record = deriveTrace(exchange, this.#context, this.#ids[at]);
    const { reportsUsage, reportsTokens } = this.#reports;
    if (reportsUsage || reportsTokens)
      this.#usage[at] = {
        scope: record.scope,
        createdAt: record.created_at,
        totalTokens: record.total_tokens,
        costUsd: record.estimated_cost_usd,
        tokens: reportsTokens && record.total_tokens > 0 ? tokenUseOf(record) : undefined,
      };
    return record;
  }
}

function tokenUseOf({ provider, model, request_method, request_path, input_tokens, output_tokens }: TraceRecord): TokenUse {
  const path = usagePathOf({ method: request_method, path: request_path });
  return { provider, model, path, input_tokens, output_tokens };
}
