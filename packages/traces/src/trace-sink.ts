import type { ExchangeBatch } from './exchange-batch.ts';
import type { WriteResult } from './write-failure.ts';

/** Where a trace queue empties to: the embedded store itself, or a broker. The batch is the sink's from then on. Rejects only when
 *  nothing of it was kept. */
export interface TraceSink {
  write(batch: ExchangeBatch): Promise<WriteResult>;
}
