import type { KubeConfig } from '@kubernetes/client-node';
import { Readiness } from '@vitrine/http-api/probe-routes';
import { serveHealth } from '@vitrine/http-api/serve-health';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { shutdownSteps } from '@vitrine/lifecycle/shutdown-steps';
import { DatabaseClock } from '@vitrine/postgres/database-clock';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Logger } from '@vitrine/telemetry/logger';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { readPeppers, VERSION, type OperatorConfig } from './config.ts';
import { operatorHealth, stalledBy, type OperatorState } from './health/operator-health.ts';
import { createGatewayKeyController } from './gateway-key/gateway-key-controller.ts';
import { Leader, type LeaderOptions } from './leadership/leader.ts';
import type { ControllerContext } from './leadership/controller-context.ts';
import type { Transactions } from './leadership/fences.ts';
import { OperatorTelemetry } from './observability/operator-telemetry.ts';
import { createPlanLimitsController } from './plan-limits/plan-limits-controller.ts';
import { KubernetesClient, type ApiRequests } from './runtime/kubernetes-client.ts';
import type { Controller } from './runtime/controller.ts';
import { EventRecorder } from './runtime/event-recorder.ts';

const APPLICATION = 'vitrine-operator';
/** One for each worker of a controller would do; transactions are short. */
const DATABASE_CONNECTIONS = 6;

const LEADERSHIP_LOST = {
  message: 'leadership lost',
  next_step: 'no action needed if it restarts and leads or waits again: docs/failure-modes.md#leadership_lost',
};

interface OperatorOptions {
  readonly config: OperatorConfig;
  readonly kubeConfig: KubeConfig;
  readonly logger: Logger;
  /** For tests. */
  readonly electionTimes?: LeaderOptions['electionTimes'];
  readonly propagationMs?: ControllerContext['propagationMs'];
}

export interface Operator extends AsyncDisposable {
  /** The server of probes and metrics. */
  readonly url: string;
  /** Resolves with what to log when another process may lead: the process has to end. */
  readonly lost: Promise<typeof LEADERSHIP_LOST>;
}

/** Starts an operator, also while database and API server are unavailable; it waits for both while it runs. Disposal finishes the passes in progress, releases the Lease,
 *  then exports spans and metrics, each within 5 s. Faults: `address_unusable`, `pepper_unusable`. */
export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const { config, kubeConfig, logger, electionTimes, propagationMs } = options;
  await using opened = new AsyncDisposableStack();
  const stop = shutdownSteps(opened, logger);

  const telemetry = opened.use(await OperatorTelemetry.start(config.observability.otel, logger));
  stop('flush metrics', () => telemetry.flushMetrics());
  stop('flush spans', () => telemetry.flushSpans());
  const pool = new PostgresPool({ dsn: config.storage.dsn, applicationName: APPLICATION, maxConnections: DATABASE_CONNECTIONS });
  stop('close the database', () => pool[Symbol.asyncDispose]());
  const clock = opened.use(new DatabaseClock(pool, { logger }).keepReading());
  const userAgent = `${APPLICATION}/${VERSION}`;
  const server = opened.use(
    new KubernetesClient(kubeConfig, userAgent, (method, status) => telemetry.requestSent(method, status)),
  );
  const hashes = new TokenHashes(readPeppers(config.auth.pepper_path));
  const leader = new Leader({
    server,
    pool,
    lease: { namespace: config.namespace, name: config.lease.name },
    identity: `${hostname()}_${randomUUID()}`,
    logger,
    createControllers: createControllers({
      config,
      pool,
      clock: clock.now,
      logger,
      telemetry,
      hashes,
      ...(propagationMs !== undefined && { propagationMs }),
    }),
    ...(electionTimes && { electionTimes }),
  });
  const controllers = () => leader.controllers.map(({ figures }) => figures);
  telemetry.observe(() => ({
    leaseName: config.lease.name,
    isLeading: leader.isLeading,
    controllers: controllers(),
    pools: { operator: pool.figures() },
  }));
  stop('release the Lease', () => leader.release());
  stop('stop the controllers', () => leader.stopControllers());
  const state = (): OperatorState => ({
    isLeading: leader.isLeading,
    databaseReason: leader.databaseReason,
    controllers: controllers(),
  });
  const readiness = new Readiness({});
  const api = opened.use(
    await serveHealth(operatorHealth(state), {
      title: 'Vitrine operator',
      summary: 'Health of the process that reconciles gateway keys and plan limits.',
      prefix: 'OPERATOR_',
      server: config.server,
      probes: { readiness, stalledBy: () => stalledBy(state()) },
      scrape: telemetry.scrape,
      scrapePath: config.observability.otel.prometheus_path,
      logger,
    }),
  );
  opened.defer(() => readiness.shutDown());
  leader.start();
  const running = opened.move();
  return { url: api.url, lost: leader.lost.then(() => LEADERSHIP_LOST), [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Creates the controllers of a leader, which write objects through `server` and rows through `database`. */
function createControllers(
  shared: Omit<ControllerContext, 'server' | 'events'>,
): (server: ApiRequests, database: Transactions) => readonly Controller[] {
  return (server, database) => {
    const reporter = { controller: 'vitrine.dev/operator', instance: hostname() };
    const events = new EventRecorder(server, reporter, (err) => shared.logger.debug({ err }, 'recording event failed'));
    const context: ControllerContext = { ...shared, server, events };
    const controllers = [createGatewayKeyController(context, database), createPlanLimitsController(context, database)];
    for (const { name } of controllers) context.telemetry.controllerStarted(name);
    return controllers;
  };
}
