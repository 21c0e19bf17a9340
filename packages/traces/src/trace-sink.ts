import type { CapturedExchange } from './captured-exchange.ts';
import type { WriteResult } from './write-failure.ts';

/** Where a trace queue empties to: the embedded store itself, or a broker. Rejects only when nothing of the batch was kept. */
export interface TraceSink {
  write(exchanges: readonly CapturedExchange[]): Promise<WriteResult>;
}
