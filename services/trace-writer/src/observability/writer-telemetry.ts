import type { ConsumerFigures } from '@vitrine/kafka/consume/kafka-consumer';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { POOL_INSTRUMENTS, poolReadings } from '@vitrine/postgres/pool-instruments';
import type { OtelConfig } from '@vitrine/telemetry/config/otel-config';
import type { Logger } from '@vitrine/telemetry/logger';
import { counter, gauge, type Recorders } from '@vitrine/telemetry/metrics/instrument';
import { ServiceTelemetry, startServiceTelemetry } from '@vitrine/telemetry/service-telemetry';
import type { Telemetry } from '@vitrine/telemetry/start-telemetry';
import type { WriteFallbacks } from '@vitrine/trace-store-postgres/postgres-trace-writer';
import { recordWriteSpan, WRITE_INSTRUMENTS, writeFailureSeries, WRITTEN_INSTRUMENTS } from '@vitrine/traces/write-telemetry';
import type { DeadLetterReason, LastStoreDrop } from '../consume/counted-dead-letters.ts';
import type { WrittenBatch } from '../consume/record-handler.ts';
import { VERSION } from '../config.ts';

const STORE = 'postgres';

/** Metrics of consumed records. Metrics of writes are in `WRITE_INSTRUMENTS`. */
const CONSUMER_INSTRUMENTS = {
  duplicates: counter('svc.trace.duplicate_total', '{trace}', 'Traces that an earlier delivery had written.'),
  deadLetters: counter('svc.trace.dead_letter_total', '{record}', 'Records sent to the dead letter topic, by reason.', [
    'reason',
  ]),
  consumed: counter('svc.consumer.records_total', '{record}', 'Records consumed and committed.'),
  running: gauge('svc.consumer.running', '{consumer}', '1 if the consumer is in its group and writes, else 0.'),
  lag: gauge('svc.consumer.lag', '{record}', 'Records behind the end of the assigned partitions.'),
  partitions: gauge('svc.consumer.partitions', '{partition}', 'Partitions that are assigned to this process.'),
  rebalances: counter('svc.consumer.rebalances_total', '{rebalance}', 'Rebalances of the consumer group.'),
  pauses: counter('svc.consumer.pauses_total', '{pause}', 'Pauses because the database could not be written to.'),
  restarts: counter('svc.consumer.restarts_total', '{restart}', 'Sessions with the broker that ended in an error.'),
};

/** Metrics of the database's tables. */
const TABLE_INSTRUMENTS = {
  fallbacks: counter(
    'svc.trace.write_fallback_total',
    '{batch}',
    'Batches that COPY did not write, by fallback: insert (one statement), records (a transaction for each).',
    ['step'],
  ),
  partitionsAhead: gauge('svc.trace.partitions_ahead', '{day}', 'Days after today that have partitions.'),
};

export interface WriterFigures {
  readonly written: number;
  readonly duplicates: number;
  readonly deadLetters: ReadonlyMap<DeadLetterReason, number>;
  readonly lastStoreDrop: LastStoreDrop | undefined;
  readonly consumer: ConsumerFigures;
  /** Whether it is a member of its group and writes. */
  readonly isConsuming: boolean;
  readonly fallbacks: WriteFallbacks;
  /** Days; undefined while unknown. */
  readonly partitionsAhead: number | undefined;
  readonly pools: Readonly<Record<string, PoolFigures>>;
}

/** Metrics and spans of writing; all members are no-ops when telemetry is off. Spec: G12.9, G14.28 to G14.31. */
export class WriterTelemetry extends ServiceTelemetry {
  readonly #writes: Recorders<typeof WRITE_INSTRUMENTS> | undefined;

  private constructor(telemetry: Telemetry | undefined) {
    super(telemetry);
    this.#writes = this.metrics?.declare(WRITE_INSTRUMENTS);
    for (const series of writeFailureSeries(STORE)) this.#writes?.writeFailed.add(0, series);
  }

  static async start(config: OtelConfig, logger: Logger): Promise<WriterTelemetry> {
    return new WriterTelemetry(await startServiceTelemetry({ config, version: VERSION, name: 'trace-writer', logger }));
  }

  batchWritten({ startedAt, endedAt, batchSize, failures }: WrittenBatch): void {
    this.#writes?.flushDuration.record((endedAt - startedAt) / 1_000);
    this.#writes?.flushBatchSize.record(batchSize);
    for (const { operation, error_class } of failures) this.#writes?.writeFailed.add(1, { operation, error_class, store: STORE });
    if (this.tracer === undefined) return;
    recordWriteSpan(this.tracer, { startedAt, endedAt, batchSize, errorClass: failures[0]?.error_class });
  }

  /** Calls `read` for the counters whenever metrics are collected. */
  observe(read: () => WriterFigures): void {
    const { metrics } = this;
    metrics?.observe(POOL_INSTRUMENTS, () => poolReadings(read().pools));
    metrics?.observe({ ...TABLE_INSTRUMENTS, ...WRITTEN_INSTRUMENTS, ...CONSUMER_INSTRUMENTS }, () => {
      const { fallbacks, partitionsAhead = [], written, duplicates, deadLetters, consumer, isConsuming } = read();
      return {
        fallbacks: Object.entries(fallbacks).map(([step, count]) => [{ step }, count] as const),
        partitionsAhead,
        written,
        duplicates,
        deadLetters: [...deadLetters].map(([reason, count]) => [{ reason }, count] as const),
        consumed: consumer.records,
        running: Number(isConsuming),
        lag: consumer.lagRecords ?? [],
        partitions: consumer.assignedPartitions,
        rebalances: consumer.rebalances,
        pauses: consumer.pauses,
        restarts: consumer.restarts,
      };
    });
  }
}
