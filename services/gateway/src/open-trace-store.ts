import { codeOf, Fault } from '@vitrine/faults/fault';
import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Logger } from '@vitrine/telemetry/logger';
import { DerivationThread } from '@vitrine/trace-derivation/derivation-thread';
import { openPostgresTraceStore, postgresWriter } from '@vitrine/trace-store-postgres/postgres-trace-store';
import { NO_WRITER_DROPS, readWriterDrops, type WriterDrops } from '@vitrine/trace-store-postgres/writer-statistics';
import { openEmbeddedTraceStore, sqliteWriter } from '@vitrine/trace-store-sqlite/embedded-trace-store';
import type { OwnedTraceStore } from '@vitrine/traces/trace-store';
import type { WriterSource } from '@vitrine/traces/writer-thread';
import { awaitDatabase } from './await-database.ts';
import { readPriceOverride } from './capture/price-override.ts';
import type { GatewayConfig } from './config.ts';
import { canHaveDailyLimits } from './limits/open-limits.ts';
import { isOldTraceFile, oldTraceFileText } from './old-gateway/old-trace-file.ts';
import { postgresOptions } from './storage-settings.ts';
import { openPublisher, type TracePublisher } from './trace-publisher/open-publisher.ts';

export interface OpenTraceStore extends AsyncDisposable {
  readonly store: OwnedTraceStore;
  /** The thread that makes records of exchanges and writes or publishes them. It serves a key store in a file too. */
  readonly thread: DerivationThread;
  /** With `queue.driver: kafka`; then trace-writers write to the store. */
  readonly publisher: TracePublisher | undefined;
  /** Of the store's connection pools; none with files. */
  readonly poolFigures: () => Readonly<Record<string, PoolFigures>>;
  /** What trace-writers have dropped; nothing while the database is away. */
  readonly writerDrops: () => Promise<WriterDrops>;
}

/** Opens the store that traces are read from, and the thread that writes to it or to the broker before it. Waits for Postgres until `signal`
 *  is aborted. Faults: those of `openEmbeddedTraceStore` and of the publisher, `invalid_price_override`, `start_aborted`. */
export async function openTraceStore(
  config: GatewayConfig,
  privacy: PrivacyRules,
  logger: Logger,
  signal: AbortSignal,
): Promise<OpenTraceStore> {
  const { storage } = config;
  const options = postgresOptions(storage, 'traces');
  if (options === undefined) {
    const thread = derivationThread(config, privacy, sqliteWriter(storage.path));
    const store = await openFile(storage.path, thread);
    const close = () => store[Symbol.asyncDispose]();
    const none = { poolFigures: () => ({}), writerDrops: async () => NO_WRITER_DROPS };
    return { store, thread, publisher: undefined, ...none, [Symbol.asyncDispose]: close };
  }
  await awaitDatabase(options, logger, signal);
  await using opened = new AsyncDisposableStack();
  const store = opened.use(openPostgresTraceStore(options));
  const publisher = config.queue.driver === 'kafka' ? opened.use(openPublisher(config.queue, options, logger)) : undefined;
  const thread = opened.use(derivationThread(config, privacy, publisher?.writer ?? postgresWriter(options)));
  await publisher?.start(thread);
  const pool = opened.use(new PostgresPool({ ...options, maxConnections: 1 }));
  const writerDrops = async () =>
    publisher === undefined ? NO_WRITER_DROPS : readWriterDrops(pool).catch(() => NO_WRITER_DROPS);
  const poolFigures = () => store.poolFigures;
  const running = opened.move();
  return { store, thread, publisher, poolFigures, writerDrops, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function derivationThread(config: GatewayConfig, privacy: PrivacyRules, writer: WriterSource): DerivationThread {
  const { tracing, prices, observability } = config;
  return new DerivationThread({
    policy: { captureBodies: tracing.capture_bodies, bodyMaxSize: tracing.body_max_size, privacy },
    priceOverride: readPriceOverride(prices.override_path),
    reportsTokens: observability.otel.genai,
    reportsUsage: canHaveDailyLimits(config),
    writer,
  });
}

async function openFile(path: string, thread: DerivationThread): Promise<OwnedTraceStore> {
  return openEmbeddedTraceStore(path, thread).catch((cause: unknown) => {
    if (codeOf(cause) !== 'storage_unusable' || !isOldTraceFile(path)) throw cause;
    throw new Fault('storage_unusable', { say: oldTraceFileText(path), cause });
  });
}
