import { deadLetterTopic } from '@vitrine/kafka/consume/dead-letter';
import { KafkaConsumer, NO_CONSUMPTION } from '@vitrine/kafka/consume/kafka-consumer';
import type { KafkaClient } from '@vitrine/kafka/kafka-client';
import { KafkaPublisher } from '@vitrine/kafka/publish/kafka-publisher';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import { DatabaseProbe } from '@vitrine/postgres/database-probe';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Logger } from '@vitrine/telemetry/logger';
import { openPostgresTraceStore, type PostgresTraceStore } from '@vitrine/trace-store-postgres/postgres-trace-store';
import { PostgresTraceWriter } from '@vitrine/trace-store-postgres/postgres-trace-writer';
import { probeWrites } from '@vitrine/trace-store-postgres/probe-writes';
import { keepRetention } from '@vitrine/traces/retention';
import type { WriterConfig } from './config.ts';
import { CountedDeadLetters } from './consume/counted-dead-letters.ts';
import { createRecordHandler, type WrittenBatch } from './consume/record-handler.ts';
import type { PipelineState } from './health/service-health.ts';
import type { WriterFigures } from './observability/writer-telemetry.ts';
import { PartitionsAheadReader, StatisticsRow } from './statistics/statistics-row.ts';

const APPLICATION = 'vitrine-trace-writer';
/** Maximum records of one transaction. */
const BATCH_RECORDS = 500;
/** Connections for the transaction of a batch, statistics and the probe. */
const WRITE_CONNECTIONS = 3;
const RETENTION_CONNECTIONS = 1;
const AFTER_FAILED_RETENTION =
  'see err; partitions for the next days exist, and retention is tried again: docs/failure-modes.md#retention-that-fails';

interface PipelineOptions {
  readonly config: WriterConfig;
  readonly client: KafkaClient;
  readonly logger: Logger;
  readonly onBatch: (batch: WrittenBatch) => void;
}

/** Writes the topic to the database: waits for both, writes, and runs retention and statistics. */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #pool: PostgresPool;
  readonly #store: PostgresTraceStore;
  readonly #writer: PostgresTraceWriter;
  readonly #publisher: KafkaPublisher;
  readonly #deadLetters: CountedDeadLetters;
  readonly #database: DatabaseProbe;
  #written = 0;
  #duplicates = 0;
  #isStopping = false;
  #consumer: KafkaConsumer | undefined;
  #statistics: StatisticsRow | undefined;
  #retention: Disposable | undefined;
  #partitions: PartitionsAheadReader | undefined;

  /** Connects only to the broker. */
  constructor(options: PipelineOptions) {
    const { config, client, logger } = options;
    const { dsn } = config.storage;
    this.#options = options;
    this.#pool = new PostgresPool({ dsn, applicationName: APPLICATION, maxConnections: WRITE_CONNECTIONS });
    this.#store = openPostgresTraceStore({ dsn, applicationName: APPLICATION, maxConnections: RETENTION_CONNECTIONS });
    this.#writer = new PostgresTraceWriter(this.#pool);
    this.#publisher = new KafkaPublisher(client, { topic: deadLetterTopic(config.queue.topic) });
    this.#deadLetters = new CountedDeadLetters(this.#publisher);
    this.#database = new DatabaseProbe(this.#pool, { logger, probe });
  }

  get state(): PipelineState {
    return {
      databaseReason: this.#database.reason,
      consumer: this.#consumer?.status,
      canPublishDeadLetters: this.#publisher.isReady,
    };
  }

  /** Whether the database was reached at any time since the start. */
  get hasReachedDatabase(): boolean {
    return this.#database.hasReachedDatabase;
  }

  get figures(): WriterFigures {
    return {
      written: this.#written,
      duplicates: this.#duplicates,
      deadLetters: this.#deadLetters.counts,
      lastStoreDrop: this.#deadLetters.lastStoreDrop,
      consumer: this.#consumer?.figures ?? NO_CONSUMPTION,
      isConsuming: this.#consumer?.status === 'running',
      fallbacks: this.#writer.fallbacks,
      partitionsAhead: this.#partitions?.partitionsAhead,
      // Of the store's pools only the one for retention is used here.
      pools: { write: this.#pool.figures(), retention: this.#store.poolFigures.traces },
    };
  }

  /** Starts in the background. Consuming begins once the database has its tables. */
  start(): void {
    void this.#database.start().ready.then(() => this.#begin());
  }

  /** Finishes and commits the batch in progress, and leaves the group. */
  async stopConsuming(): Promise<void> {
    this.#isStopping = true;
    this.#retention?.[Symbol.dispose]();
    this.#partitions?.[Symbol.dispose]();
    await this.#consumer?.[Symbol.asyncDispose]();
    await this.#publisher[Symbol.asyncDispose]();
  }

  async writeStatistics(): Promise<void> {
    await this.#statistics?.[Symbol.asyncDispose]();
  }

  async closeDatabase(): Promise<void> {
    await Promise.all([this.#store, this.#database, this.#pool].map((one) => one[Symbol.asyncDispose]()));
  }

  #begin(): void {
    if (this.#isStopping) return;
    const { config, logger } = this.#options;
    this.#statistics = new StatisticsRow(this.#pool, () => this.figures);
    this.#retention = keepRetention(this.#store, {
      retentionDays: config.tracing.retention_days,
      logger,
      onError: (err) => logger.error({ ...databaseErrorFields(err), next_step: AFTER_FAILED_RETENTION }, 'retention failed'),
    });
    this.#partitions = new PartitionsAheadReader(this.#pool);
    this.#consumer = this.#consume();
  }

  #consume(): KafkaConsumer {
    const { config, client, onBatch } = this.#options;
    const { topic, group: groupId } = config.queue;
    const handle = createRecordHandler(this.#writer, (batch) => {
      this.#written += batch.written;
      this.#duplicates += batch.duplicates;
      onBatch(batch);
    });
    const isAvailable = () => probe(this.#pool).then(() => true);
    const deadLetters = this.#deadLetters;
    return new KafkaConsumer(client, { topic, groupId, maxBatchRecords: BATCH_RECORDS, handle, deadLetters, isAvailable });
  }
}

/** Checks a column of the newest migration that this service needs, and whether traces can be written. */
async function probe(pool: PostgresPool): Promise<void> {
  await pool.query('SELECT last_dropped_at FROM writer_statistics LIMIT 0');
  await probeWrites(pool);
}
