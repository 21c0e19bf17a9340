import { codeOf, Fault } from '@vitrine/faults/fault';
import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';
import type { Logger } from '@vitrine/telemetry/logger';
import { DerivationThread } from '@vitrine/trace-derivation/derivation-thread';
import { NO_WRITER_DROPS } from '@vitrine/trace-store-postgres/writer-statistics';
import { openEmbeddedTraceStore, sqliteWriter } from '@vitrine/trace-store-sqlite/embedded-trace-store';
import type { OwnedTraceStore } from '@vitrine/traces/trace-store';
import type { WriterSource } from '@vitrine/traces/writer-thread';
import { canHaveDailyLimits } from '../limits/thresholds.ts';
import { isOldTraceFile, oldTraceFileText } from '@vitrine/ongoingai-import/old-trace-file';
import type { OpenedTraces, TraceStoreConfig } from './opened-traces.ts';
import { readPrices } from './price-settings.ts';
import { postgresOptions } from '../storage/storage-settings.ts';

/** Opens the store that traces are read from, and the thread that writes to it or to the broker before it. Waits for Postgres until `signal`
 *  is aborted. Faults: those of `openEmbeddedTraceStore`, `readPrices` and the publisher, `start_aborted`. */
export async function openTraceStore(
  config: TraceStoreConfig,
  privacy: PrivacyRules,
  logger: Logger,
  signal: AbortSignal,
): Promise<OpenedTraces> {
  const { storage } = config;
  const options = postgresOptions(storage, 'traces');
  if (options === undefined) {
    const thread = derivationThread(config, privacy, sqliteWriter(storage.path));
    const store = await openFile(storage.path, thread);
    const close = () => store[Symbol.asyncDispose]();
    const none = { isDatabaseFailing: () => false, poolFigures: () => ({}), writerDrops: async () => NO_WRITER_DROPS };
    return { store, thread, publisher: undefined, ...none, [Symbol.asyncDispose]: close };
  }
  const { openPostgresTraces } = await import('./open-postgres-traces.ts');
  const startThread = (writer: WriterSource) => derivationThread(config, privacy, writer);
  return openPostgresTraces(config, options, startThread, logger, signal);
}

function derivationThread(config: TraceStoreConfig, privacy: PrivacyRules, writer: WriterSource): DerivationThread {
  const { tracing, prices, observability } = config;
  const { override: priceOverride, unknownModel } = readPrices(prices);
  return new DerivationThread({
    policy: { captureBodies: tracing.capture_bodies, bodyMaxSize: tracing.body_max_size, privacy },
    priceOverride,
    unknownModel,
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
