import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Logger } from '@vitrine/telemetry/logger';
import type { DerivationThread } from '@vitrine/trace-derivation/derivation-thread';
import { openPostgresTraceStore, postgresWriter } from '@vitrine/trace-store-postgres/postgres-trace-store';
import { NO_WRITER_DROPS, readWriterDrops } from '@vitrine/trace-store-postgres/writer-statistics';
import type { WriterSource } from '@vitrine/traces/writer-thread';
import { awaitDatabase } from '../storage/await-database.ts';
import { SummaryReader } from './summary-reader.ts';
import type { OpenedTraces, TraceStoreConfig } from './opened-traces.ts';
import { openPublisher } from './publisher/open-publisher.ts';

/** Opens the traces of a database, which it waits for until `signal` is aborted. Faults: those of the publisher, `start_aborted`. */
export async function openPostgresTraces(
  { queue }: Pick<TraceStoreConfig, 'queue'>,
  options: PostgresPoolOptions,
  startThread: (writer: WriterSource) => DerivationThread,
  logger: Logger,
  signal: AbortSignal,
): Promise<OpenedTraces> {
  await awaitDatabase(options, logger, signal);
  await using opened = new AsyncDisposableStack();
  const store = opened.use(openPostgresTraceStore(options));
  const publisher = queue.driver === 'kafka' ? opened.use(openPublisher(queue, logger)) : undefined;
  const thread = opened.use(startThread(publisher?.writer ?? postgresWriter(options)));
  await publisher?.start(thread);
  const pool = opened.use(new PostgresPool({ ...options, maxConnections: 1 }));
  const writerDrops = async () =>
    publisher === undefined ? NO_WRITER_DROPS : readWriterDrops(pool).catch(() => NO_WRITER_DROPS);
  const summaries = opened.use(new SummaryReader(store, () => performance.now()));
  const running = opened.move();
  return {
    store,
    thread,
    publisher,
    isDatabaseFailing: () => summaries.isFailing,
    poolFigures: () => ({ ...store.poolFigures, statistics: pool.figures() }),
    writerDrops,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
