import type { ConsumerFigures } from '@vitrine/kafka/consume/kafka-consumer';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { POOL_INSTRUMENTS, poolReadings } from '@vitrine/postgres/pool-instruments';
import type { OtelConfig } from '@vitrine/telemetry/config/otel-config';
import type { Logger } from '@vitrine/telemetry/logger';
import type { Recorders } from '@vitrine/telemetry/metrics/service-metrics';
import { ServiceTelemetry, startServiceTelemetry } from '@vitrine/telemetry/service-telemetry';
import type { Telemetry } from '@vitrine/telemetry/start-telemetry';
import type { WriteFallbacks } from '@vitrine/trace-store-postgres/postgres-trace-writer';
import { recordWriteSpan, WRITE_INSTRUMENTS, writeFailureSeries, WRITTEN_INSTRUMENTS } from '@vitrine/traces/write-telemetry';
import type { DeadLetterReason, LastStoreDrop } from '../consume/counted-dead-letters.ts';
import type { WrittenBatch } from '../consume/record-handler.ts';
import { VERSION } from '../version.ts';
import { CONSUMER_INSTRUMENTS, TABLE_INSTRUMENTS } from './instruments.ts';

const STORE = 'postgres';

export interface WriterFigures {
  readonly written: number;
  readonly duplicates: number;
  readonly deadLetters: ReadonlyMap<DeadLetterReason, number>;
  readonly lastStoreDrop: LastStoreDrop | undefined;
  readonly consumer: ConsumerFigures;
  /** Whether it is in its group and writes. */
  readonly isConsuming: boolean;
  readonly fallbacks: WriteFallbacks;
  /** Undefined while they are not known. */
  readonly tables: { readonly partitionsAhead: number | undefined };
  readonly pools: Readonly<Record<string, PoolFigures>>;
}

/** Metrics and spans of writing; everything here does nothing when telemetry is off. Spec: G12.9, G14.28 to G14.31. */
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

  /** From now on `read` gives the counters whenever metrics are collected. */
  observe(read: () => WriterFigures): void {
    const { metrics } = this;
    metrics?.observe(POOL_INSTRUMENTS, () => poolReadings(read().pools));
    metrics?.observe(TABLE_INSTRUMENTS, () => {
      const { fallbacks, tables } = read();
      const { partitionsAhead = [] } = tables;
      const series = Object.entries(fallbacks).map(([step, count]) => [{ step }, count] as const);
      return { fallbacks: series, partitionsAhead };
    });
    metrics?.observe({ ...WRITTEN_INSTRUMENTS, ...CONSUMER_INSTRUMENTS }, () => {
      const { written, duplicates, deadLetters, consumer, isConsuming } = read();
      return {
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
