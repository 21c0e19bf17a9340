import { createKafkaClient } from '@vitrine/kafka/kafka-client';
import { kafkaConnection } from '@vitrine/kafka/kafka-connection';
import { KafkaPublisher } from '@vitrine/kafka/publish/kafka-publisher';
import { OUTBOX_INSTRUMENTS, outboxReadings } from '@vitrine/outbox/outbox-figures';
import { OutboxRelay } from '@vitrine/outbox/outbox-relay';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { RETENTION_INSTRUMENTS, StoreRetention } from '@vitrine/stores/retention/store-retention';
import { SCAN_TOPICS } from '@vitrine/stores/scans/queue-scans';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ServiceMetrics } from '@vitrine/telemetry/metrics/service-metrics';
import type { StoreApiConfig } from '../config.ts';

const CLIENT_ID = 'vitrine-store-api';
/** Connections for the relay's transaction, its backlog, and retention. */
export const JOB_CONNECTIONS = 3;
const AFTER_NO_BROKERS =
  'set queue.brokers (STORE_API_QUEUE_BROKERS), unless another process of this database publishes its outbox';

interface JobContext {
  readonly pool: PostgresPool;
  /** Called once the database is available. */
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
