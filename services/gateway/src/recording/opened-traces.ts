import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import type { DerivationThread } from '@vitrine/trace-derivation/derivation-thread';
import type { WriterDrops } from '@vitrine/trace-store-postgres/writer-statistics';
import type { OwnedTraceStore } from '@vitrine/traces/trace-store';
import type { LimitsSettings } from '../limits/limits-config.ts';
import type { StorageSettings } from '../storage/storage-settings.ts';
import type { PriceSettings } from './price-settings.ts';
import type { PublisherSettings, TracePublisher } from './publisher/open-publisher.ts';

/** The parts of the configuration that the trace pipeline depends on. */
export interface TraceStoreConfig extends LimitsSettings {
  readonly storage: StorageSettings;
  readonly queue: PublisherSettings & { readonly driver: 'memory' | 'kafka' };
  readonly tracing: { readonly capture_bodies: boolean; readonly body_max_size: number };
  readonly prices: PriceSettings;
  readonly observability: { readonly otel: { readonly genai: boolean } };
}

/** Where the gateway writes traces and reads them. */
export interface OpenedTraces extends AsyncDisposable {
  readonly store: OwnedTraceStore;
  /** The thread that derives records from exchanges and writes or publishes them. It also serves a key store in a file. */
  readonly thread: DerivationThread;
  /** With `queue.driver: kafka`; then trace-writers write to the store. */
  readonly publisher: TracePublisher | undefined;
  /** Whether the server of the store does not respond; always false with files. */
  readonly isDatabaseFailing: () => boolean;
  /** Figures of the store's connection pools; none with files. */
  readonly poolFigures: () => Readonly<Record<string, PoolFigures>>;
  /** Traces dropped by trace-writers; empty while the database is unavailable. */
  readonly writerDrops: () => Promise<WriterDrops>;
}
