import type { DayUsage } from '@vitrine/traces/day-usage';
import type { Provider } from '@vitrine/traces/trace';
import type { WriteResult } from '@vitrine/traces/write-result';
import type { ExchangeBatch } from './exchange-batch.ts';

/** Tokens that one exchange used, as the provider reported them. */
export interface TokenUse {
  readonly provider: Provider;
  readonly model: string;
  /** Path of the request; for a background response, of the creating request. */
  readonly path: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** Kinds of exchanges whose cost or usage is not known. An exchange may be of two. */
export const UNKNOWN_KINDS = ['unpriced', 'estimated', 'missing'] as const;
export type UnknownKind = (typeof UNKNOWN_KINDS)[number];

/** A number of exchanges of a provider. */
export interface UnknownUse {
  readonly provider: Provider;
  readonly kind: UnknownKind;
  readonly count: number;
}

/** The result of a batch and of its derivation. */
export interface BatchResult extends WriteResult {
  /** Daily usage per key of the kept records, if the sink reports it. */
  readonly usage?: readonly DayUsage[];
  /** If the sink reports it. */
  readonly tokens?: readonly TokenUse[];
  /** Exchanges whose cost or usage is not known, kept or lost. */
  readonly unknown?: readonly UnknownUse[];
  /** Records without bodies because their exchanges took too long. */
  readonly bodiesOmitted?: number;
  /** The memory of the batch, when it may be used for another. */
  readonly memory?: Buffer<ArrayBuffer>;
}

/** The target of a trace queue. The sink owns the batch from then on. Rejects only when nothing of it was kept. */
export interface TraceSink {
  write(batch: ExchangeBatch): Promise<BatchResult>;
}
