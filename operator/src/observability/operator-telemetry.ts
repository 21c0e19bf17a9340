import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { POOL_INSTRUMENTS, poolReadings } from '@vitrine/postgres/pool-instruments';
import type { OtelConfig } from '@vitrine/telemetry/config/otel-config';
import type { Logger } from '@vitrine/telemetry/logger';
import { type Recorders, type Reading, counter, gauge, histogram } from '@vitrine/telemetry/metrics/instrument';
import { ServiceTelemetry, startServiceTelemetry } from '@vitrine/telemetry/service-telemetry';
import type { Telemetry } from '@vitrine/telemetry/start-telemetry';
import { RECONCILE_OUTCOMES, type ControllerFigures, type ControllerObserver } from '../runtime/controller.ts';
import type { ListWatchFigures } from '../runtime/list-watch.ts';
import { VERSION } from '../config.ts';

// Names and labels of controller-runtime and client-go, so that dashboards made for them show this operator.

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const RECORDED_INSTRUMENTS = {
  reconciled: counter('controller_runtime_reconcile_total', '{pass}', 'Passes of a controller, by result.', [
    'controller',
    'result',
  ]),
  reconcileErrors: counter('controller_runtime_reconcile_errors_total', '{pass}', 'Passes of a controller that failed.', [
    'controller',
  ]),
  reconcileTime: histogram('controller_runtime_reconcile_time_seconds', 's', 'Duration of a pass.', SECONDS, ['controller']),
  queueDuration: histogram('workqueue_queue_duration_seconds', 's', 'Time that a key waited for a worker.', SECONDS, ['name']),
  workDuration: histogram('workqueue_work_duration_seconds', 's', 'Time that a worker took for a key.', SECONDS, ['name']),
  requests: counter('rest_client_requests_total', '{request}', 'Requests to the API server, by status; 0 without a response.', [
    'code',
    'method',
  ]),
};

const QUEUE = ['name'];
const WATCH = ['controller', 'kind'];

const OBSERVED_INSTRUMENTS = {
  master: gauge('leader_election_master_status', '{leader}', '1 if this process is the leader, else 0.', ['name']),
  depth: gauge('workqueue_depth', '{key}', 'Keys waiting for a worker.', QUEUE),
  adds: counter('workqueue_adds_total', '{key}', 'Keys that were added.', QUEUE),
  retries: counter('workqueue_retries_total', '{key}', 'Keys that were added again after a failure.', QUEUE),
  unfinished: gauge('workqueue_unfinished_work_seconds', 's', 'Total running time of the keys in progress.', QUEUE),
  longestRunning: gauge('workqueue_longest_running_processor_seconds', 's', 'Running time of the longest-running key.', QUEUE),
  activeWorkers: gauge('controller_runtime_active_workers', '{worker}', 'Workers in a pass.', ['controller']),
  maxConcurrent: gauge('controller_runtime_max_concurrent_reconciles', '{worker}', 'Workers of a controller.', ['controller']),
  objects: gauge('svc.operator.watched_objects', '{object}', 'Objects in the cache of a kind.', WATCH),
  restarts: counter('svc.operator.watch_restarts_total', '{watch}', 'Lists and watches that failed.', WATCH),
  relists: counter('svc.operator.lists_total', '{list}', 'Full lists of a kind.', WATCH),
  stale: gauge('svc.operator.watch_stale_seconds', 's', 'Time since the API server last sent data of a kind.', WATCH),
};

const AFTER_FAILED_WATCH = 'look at err; it is tried again: docs/failure-modes.md#requests-to-the-api-server-that-fail';
const AFTER_FAILED_PASS =
  'look at err and at the conditions of the resource; it is tried again: docs/failure-modes.md#a-pass-that-fails';
const AFTER_FAILED_SWEEP =
  'look at err; rows are compared again in a few seconds: docs/failure-modes.md#a-database-that-lost-its-rows';
/** Logged once a minute for consecutive failed sweeps. */
const LOGGED_FAILURE = 12;

interface OperatorFigures {
  /** The name of the Lease. */
  readonly leaseName: string;
  readonly isLeading: boolean;
  readonly controllers: readonly ControllerFigures[];
  readonly pools: Readonly<Record<string, PoolFigures>>;
}

/** Metrics and log lines of the controllers; without metrics only log lines. */
export class OperatorTelemetry extends ServiceTelemetry implements ControllerObserver {
  readonly #logger: Logger;
  readonly #recorders: Recorders<typeof RECORDED_INSTRUMENTS> | undefined;

  private constructor(telemetry: Telemetry | undefined, logger: Logger) {
    super(telemetry);
    this.#logger = logger;
    this.#recorders = this.metrics?.declare(RECORDED_INSTRUMENTS);
  }

  static async start(config: OtelConfig, logger: Logger): Promise<OperatorTelemetry> {
    return new OperatorTelemetry(await startServiceTelemetry({ config, version: VERSION, name: 'operator', logger }), logger);
  }

  /** Creates the series of a controller at 0. */
  controllerStarted(controller: string): void {
    for (const result of RECONCILE_OUTCOMES) this.#recorders?.reconciled.add(0, { controller, result });
    this.#recorders?.reconcileErrors.add(0, { controller });
  }

  reconciled(controller: string, result: string, tookMs: number): void {
    this.#recorders?.reconciled.add(1, { controller, result });
    this.#recorders?.reconcileTime.record(tookMs / 1_000, { controller });
    if (result === 'error') this.#recorders?.reconcileErrors.add(1, { controller });
  }

  reconcileFailed(controller: string, key: string, err: unknown): void {
    this.#logger.warn({ controller, key, err, next_step: AFTER_FAILED_PASS }, 'reconcile failed');
  }

  repeatFailed(controller: string, err: unknown, consecutive: number): void {
    if (consecutive % LOGGED_FAILURE === 1)
      this.#logger.warn({ controller, err, consecutive, next_step: AFTER_FAILED_SWEEP }, 'sweep of rows failed');
  }

  watchFailed(controller: string, kind: string, err: unknown, consecutive: number): void {
    this.#logger.warn({ controller, kind, err, consecutive, next_step: AFTER_FAILED_WATCH }, 'watch failed');
  }

  queue(name: string): { onStart: (waitedMs: number) => void; onDone: (tookMs: number) => void } {
    return {
      onStart: (waitedMs) => this.#recorders?.queueDuration.record(waitedMs / 1_000, { name }),
      onDone: (tookMs) => this.#recorders?.workDuration.record(tookMs / 1_000, { name }),
    };
  }

  requestSent(method: string, status: number): void {
    this.#recorders?.requests.add(1, { code: status, method });
  }

  /** Registers `read`, which is called whenever metrics are collected. */
  observe(read: () => OperatorFigures): void {
    const { metrics } = this;
    metrics?.observe(POOL_INSTRUMENTS, () => poolReadings(read().pools));
    metrics?.observe(OBSERVED_INSTRUMENTS, () => readingsOf(read()));
  }
}

function readingsOf(operator: OperatorFigures): Readonly<Record<keyof typeof OBSERVED_INSTRUMENTS, Reading>> {
  const { leaseName, isLeading, controllers } = operator;
  const ofEach = (label: 'name' | 'controller', value: (figures: ControllerFigures) => number): Reading =>
    controllers.map((figures) => [{ [label]: figures.name }, value(figures)] as const);
  const ofWatches = (value: (figures: ListWatchFigures) => number | undefined): Reading =>
    controllers.flatMap(({ name, watches }) =>
      [...watches].flatMap(([kind, figures]) => {
        const one = value(figures);
        return one === undefined ? [] : [[{ controller: name, kind }, one] as const];
      }),
    );
  return {
    master: [[{ name: leaseName }, Number(isLeading)]],
    depth: ofEach('name', ({ queue }) => queue.depth),
    adds: ofEach('name', ({ queue }) => queue.adds),
    retries: ofEach('name', ({ queue }) => queue.retries),
    unfinished: ofEach('name', ({ queue }) => queue.unfinishedSeconds),
    longestRunning: ofEach('name', ({ queue }) => queue.longestRunningSeconds),
    activeWorkers: ofEach('controller', ({ activeWorkers }) => activeWorkers),
    maxConcurrent: ofEach('controller', ({ concurrency }) => concurrency),
    objects: ofWatches(({ objects }) => objects),
    restarts: ofWatches(({ restarts }) => restarts),
    relists: ofWatches(({ relists }) => relists),
    stale: ofWatches(({ staleSeconds }) => staleSeconds),
  };
}
