import { OUTBOX_INSTRUMENTS, outboxReadings, type OutboxFigures } from '@vitrine/outbox/outbox-figures';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { POOL_INSTRUMENTS, poolReadings } from '@vitrine/postgres/pool-instruments';
import { RETENTION_INSTRUMENTS } from '@vitrine/stores/retention/store-retention';
import { SCAN_TOPICS, type ScanCause } from '@vitrine/stores/scans/queue-scans';
import type { OtelConfig } from '@vitrine/telemetry/config/otel-config';
import type { Logger } from '@vitrine/telemetry/logger';
import type { Reading, Recorders } from '@vitrine/telemetry/metrics/instrument';
import { ServiceTelemetry, startServiceTelemetry } from '@vitrine/telemetry/service-telemetry';
import { recordSpan } from '@vitrine/telemetry/spans/server-span';
import type { Telemetry } from '@vitrine/telemetry/start-telemetry';
import type { EndedRun } from '../jobs/job-runner.ts';
import type { PolitenessCounters } from '../politeness/host-rate-limiter.ts';
import type { RoutineFigures } from '../rescan/routine-work.ts';
import type { ReplayFigures } from '../rescan/rules-replay.ts';
import type { CommittedSignals } from '../scan/scan-ports.ts';
import { VERSION } from '../config.ts';
import { POLITENESS_INSTRUMENTS, QUEUE_INSTRUMENTS, RUN_INSTRUMENTS } from './instruments.ts';

const NO_OUTBOX: OutboxFigures = {
  published: new Map(Object.values(SCAN_TOPICS).map((topic) => [topic, 0])),
  failures: { unavailable: 0, refused: 0, database: 0 },
  inFlight: 0,
  backlog: undefined,
  backlogReadFailures: 0,
};

/** Figures of the consumer of one topic. */
export interface ConsumerSums {
  readonly lagRecords: number | undefined;
  readonly records: number;
  readonly deadLetters: number;
  readonly isRunning: boolean;
}

export interface ScanFigures {
  readonly inFlight: number;
  readonly slots: number;
  readonly waiting: ReadonlyMap<ScanCause, number>;
  readonly duplicates: number;
  readonly consumers: ReadonlyMap<ScanCause, ConsumerSums>;
  /** Undefined before the database was reached. */
  readonly routine: RoutineFigures | undefined;
  readonly replay: ReplayFigures | undefined;
  readonly outbox: OutboxFigures | undefined;
  readonly pools: Readonly<Record<string, PoolFigures>>;
}

/** Metrics and spans of scans; all members are no-ops when telemetry is off. */
export class ScanTelemetry extends ServiceTelemetry {
  readonly #runs: Recorders<typeof RUN_INSTRUMENTS> | undefined;

  private constructor(telemetry: Telemetry | undefined) {
    super(telemetry);
    this.#runs = this.metrics?.declare(RUN_INSTRUMENTS);
  }

  static async start(config: OtelConfig, logger: Logger): Promise<ScanTelemetry> {
    const options = { config, version: VERSION, name: 'enrich-scan-queue', metricPrefix: 'scan', logger };
    return new ScanTelemetry(await startServiceTelemetry(options));
  }

  runEnded({ job, result, reason = '', startedAt, endedAt }: EndedRun): void {
    const { cause, attempts, queuedAt } = job;
    const seconds = (endedAt - startedAt) / 1_000;
    this.#runs?.runs.add(1, { cause, result, reason });
    this.#runs?.duration.record(seconds, { result });
    // The difference of two clocks: that of the database and this one.
    if (attempts === 1) this.#runs?.queueWait.record(Math.max(0, (Date.now() - queuedAt) / 1_000 - seconds), { cause });
    const failure = result === 'failed' || result === 'undecided' ? `scan ${result}` : undefined;
    const attributes = { 'scan.domain': job.domain, 'scan.cause': cause, 'scan.result': result, 'scan.reason': reason };
    if (this.tracer !== undefined) recordSpan(this.tracer, { name: 'scan.run', attributes, failure, startedAt, endedAt });
  }

  observationCommitted(scope: string, { signals, held, withdrawn }: CommittedSignals): void {
    this.#runs?.observations.add(1, { scope });
    for (const { type } of signals) this.#runs?.signals.add(1, { type });
    for (const { type } of held) this.#runs?.held.add(1, { type });
    for (const { type } of withdrawn) this.#runs?.withdrawn.add(1, { type });
  }

  /** Reads the counters whenever metrics are collected. */
  observe(read: () => ScanFigures, politeness: PolitenessCounters): void {
    const { metrics } = this;
    metrics?.observe(POOL_INSTRUMENTS, () => poolReadings(read().pools));
    metrics?.observe(QUEUE_INSTRUMENTS, () => queueReadings(read()));
    metrics?.observe(OUTBOX_INSTRUMENTS, () => outboxReadings(read().outbox ?? NO_OUTBOX));
    metrics?.observe({ failures: RETENTION_INSTRUMENTS.failures }, () => ({ failures: read().routine?.cleanUpFailures ?? 0 }));
    metrics?.observe(POLITENESS_INSTRUMENTS, () => ({
      waits: politeness.waits,
      waitSeconds: politeness.waitedMs / 1_000,
      putOffs: politeness.putOffs,
      slowDowns: politeness.slowDowns,
    }));
  }
}

function queueReadings(figures: ScanFigures): Record<keyof typeof QUEUE_INSTRUMENTS, Reading> {
  const { inFlight, slots, waiting, duplicates, consumers, routine, replay } = figures;
  const { runs, scansQueued = 0, evidenceRemoved = 0, jobs } = routine ?? {};
  const byCause = (value: (sums: ConsumerSums) => number | undefined) =>
    [...consumers].flatMap(([cause, sums]) => {
      const reading = value(sums);
      return reading === undefined ? [] : [[{ cause }, reading] as const];
    });
  return {
    inFlight,
    slots,
    waiting: [...waiting].map(([cause, count]) => [{ cause }, count] as const),
    duplicates,
    consumed: byCause(({ records }) => records),
    deadLetters: byCause(({ deadLetters }) => deadLetters),
    running: byCause(({ isRunning }) => Number(isRunning)),
    lag: byCause(({ lagRecords }) => lagRecords),
    openJobs: jobs?.open ?? [],
    delayedJobs: jobs?.delayed ?? [],
    schedulerRuns: Object.entries(runs ?? { queued: 0, not_leading: 0, failed: 0 }).map(
      ([result, count]) => [{ result }, count] as const,
    ),
    scansQueued,
    evidenceRemoved,
    replayed: Object.entries(replay?.stores ?? { replayed: 0, unchanged: 0, failed: 0 }).map(
      ([result, count]) => [{ result }, count] as const,
    ),
    toReplay: replay?.remaining ?? [],
  };
}
