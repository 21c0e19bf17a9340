import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import { KafkaPublisher } from '@vitrine/kafka/publish/kafka-publisher';
import { OUTBOX_INSTRUMENTS, outboxReadings } from '@vitrine/outbox/outbox-figures';
import { OutboxRelay } from '@vitrine/outbox/outbox-relay';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { RETENTION_INSTRUMENTS, StoreRetention } from '@vitrine/stores/retention/store-retention';
import { SCAN_TOPICS } from '@vitrine/stores/scans/queue-scans';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ServiceMetrics } from '@vitrine/telemetry/metrics/instrument';
import type { StoreApiConfig } from '../config.ts';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { setTimeout as wait } from 'node:timers/promises';

const CLIENT_ID = 'vitrine-store-api';
/** Connections for the relay's transaction, its backlog, and retention. */
export const JOB_CONNECTIONS = 3;
const AFTER_NO_BROKERS =
  'set queue.brokers (STORE_API_QUEUE_BROKERS), unless another process of this database publishes its outbox';

interface JobContext {
  readonly pool: PostgresPool;
  /** Resolves once the database is available. */
  readonly ready: Promise<void>;
  readonly logger: Logger;
  readonly metrics: ServiceMetrics | undefined;
}

/** Background work of the store API: publishes queued scans and removes old rows. */
export class BackgroundJobs implements AsyncDisposable {
  readonly #publishers: readonly KafkaPublisher[] = [];
  readonly #relay: OutboxRelay | undefined;
  readonly #retention: StoreRetention;

  /** Faults: `kafka_credentials_unreadable`. */
  constructor({ queue }: StoreApiConfig, { pool, ready, logger, metrics }: JobContext) {
    if (queue.brokers.length > 0) {
      const client = createKafkaClient(kafkaConnection(CLIENT_ID, queue), logger);
      this.#publishers = Object.values(SCAN_TOPICS).map((topic) => new KafkaPublisher(client, { topic }));
      const publishers = new Map(this.#publishers.map((publisher) => [publisher.topic, publisher]));
      const relay = new OutboxRelay(pool, { publishers, logger });
      this.#relay = relay;
      metrics?.observe(OUTBOX_INSTRUMENTS, () => outboxReadings(relay.figures));
    } else logger.warn({ next_step: AFTER_NO_BROKERS }, 'queued scans are not published');
    this.#retention = new StoreRetention(pool, logger, { ready });
    metrics?.observe(RETENTION_INSTRUMENTS, () => this.#retention.readings());
  }

  /** Waits for work in progress and closes the connections to the broker. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#relay?.[Symbol.asyncDispose](), this.#retention[Symbol.asyncDispose]()]);
    await Promise.all(this.#publishers.map((publisher) => publisher[Symbol.asyncDispose]()));
  }
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;

/** Writes the vocabulary of this version to the database once, when it can be reached and has its tables. The store API is its only writer:
 *  observations of technologies that are missing there fail and are tried again. Resolves when that is done or the signal is aborted. */
export async function writeVocabulary(pool: PostgresPool, logger: Logger, signal: AbortSignal): Promise<void> {
  for (let delayMs = FIRST_RETRY_MS; !signal.aborted; delayMs = Math.min(2 * delayMs, MAX_RETRY_MS)) {
    try {
      const changed = await importVocabulary(pool, VOCABULARY);
      if (changed > 0) logger.info({ technologies: VOCABULARY.length, changed }, 'vocabulary written');
      return;
    } catch (error) {
      // The probe says at a higher level that the database is away.
      logger.debug({ ...databaseErrorFields(error) }, 'vocabulary not written; retrying');
    }
    await wait(delayMs, undefined, { signal }).catch(() => {});
  }
}
