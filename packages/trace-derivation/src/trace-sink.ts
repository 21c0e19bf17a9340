import type { BatchMemory, ExchangeBatch } from './exchange-batch.ts';
import type { WriteResult } from '@vitrine/traces/write-result';

/** What became of a batch, and its memory, when that may be used for another. */
export type BatchResult = WriteResult & { readonly memory?: BatchMemory };

/** Where a trace queue empties to: the embedded store itself, or a broker. The batch is the sink's from then on. Rejects only when
 *  nothing of it was kept. */
export interface TraceSink {
  write(batch: ExchangeBatch): Promise<BatchResult>;
}
