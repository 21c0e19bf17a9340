import type { DayUsage } from '@vitrine/traces/day-usage';
import type { Provider } from '@vitrine/traces/trace';
import type { WriteResult } from '@vitrine/traces/write-result';
import type { ExchangeBatch } from './exchange-batch.ts';

/** Tokens that one exchange used, as the provider reported them. */
export interface TokenUse {
  readonly provider: Provider;
  readonly model: string;
  /** Of the request; of what was made in the background, that of the request that made it. */
  readonly path: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** What became of a batch, and what its derivation found. */
export interface BatchResult extends WriteResult {
  /** What the records that were kept add to the days of their keys, when the sink reports it. */
  readonly usage?: readonly DayUsage[];
  /** When the sink reports it. */
  readonly tokens?: readonly TokenUse[];
  /** Records without bodies because their exchanges took too long. */
  readonly bodiesOmitted?: number;
  /** The memory of the batch, when it may be used for another. */
  readonly memory?: Buffer<ArrayBuffer>;
}

/** Where a trace queue empties to. The batch is the sink's from then on. Rejects only when nothing of it was kept. */
export interface TraceSink {
  write(batch: ExchangeBatch): Promise<BatchResult>;
}
