import { publicUrlsOf } from '@vitrine/stores/profile/render-profile';
import { AdmissionControl } from './admission/admission-control.ts';
import { Readiness } from '@vitrine/http-api/probe-routes';
import { publicScrape, serveScrape } from '@vitrine/http-api/serve-scrape';
import { serveApi } from '@vitrine/http-api/server/api-server';
import { shutdownSteps } from '@vitrine/lifecycle/shutdown-steps';
import { StoredPeppersFollower } from './admission/stored-peppers-follower.ts';
import { DatabaseClock } from '@vitrine/postgres/database-clock';
import { DatabaseProbe } from '@vitrine/postgres/database-probe';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Logger } from '@vitrine/telemetry/logger';
import { randomBytes } from 'node:crypto';
import type { StoreApiConfig } from './config.ts';
import type { ApiRoute } from './contract/operation.ts';
import { outcomesOf } from './contract/error-codes.ts';
import { REQUEST_ID_HEADER } from './contract/headers.ts';
import type { GraphqlPorts } from './graphql/graphql-context.ts';
import { graphqlRoute } from './graphql/graphql-route.ts';
import { signedCursors } from './cursors/signed-cursors.ts';
import { canServe, operationalRoutes } from './health/operational-routes.ts';
import { createApiApp } from './http/create-api-app.ts';
import { ENVELOPE_REJECTIONS } from './http/envelope-rejections.ts';
import type { CountedOperation, PlainRoute } from './http/plain-route.ts';
import { REQUEST_TIMEOUT_MS } from './http/request-deadline.ts';
import { StoreApiTelemetry } from './observability/store-api-telemetry.ts';
import { BackgroundJobs, JOB_CONNECTIONS, writeVocabulary } from './jobs/background-jobs.ts';
import { pageRoutes } from './pages/page-routes.ts';
import { createRoutes, servedOperations } from './routes.ts';

const APPLICATION = 'vitrine-store-api';
/** Connections for reading the profiles of batches, which bounds concurrent batches. */
const BATCH_CONNECTIONS = 2;
const PROBE_CONNECTIONS = 1;

interface StoreApi extends AsyncDisposable {
  readonly url: string;
}

/** Starts the store API, with or without its database. Operations that need the database respond with 500 until it is available. Disposal finishes
 *  the requests in flight, then exports spans and metrics, each within 5 s. Faults: `address_unusable`, `invalid_dsn`. */
export async function startStoreApi(config: StoreApiConfig, logger: Logger): Promise<StoreApi> {
  await using opened = new AsyncDisposableStack();
  const stop = shutdownSteps(opened, logger);
  const { otel } = config.observability;

  const telemetry = opened.use(await StoreApiTelemetry.start(otel, logger, config.log.access));
  stop('flush the log', async () => telemetry.flushLog());
  stop('flush metrics', () => telemetry.flushMetrics());
  stop('flush spans', () => telemetry.flushSpans());
  const pools = openPools(config);
  stop('close the database', () => Promise.all(Object.values(pools).map((one) => one[Symbol.asyncDispose]())));
  telemetry.observePools(() => Object.fromEntries(Object.entries(pools).map(([name, one]) => [name, one.figures()])));
  const { requests: pool, batches: batchPool, jobs: jobPool } = pools;
  const { now } = opened.use(new DatabaseClock(jobPool, { logger }).keepReading());
  const probe = new DatabaseProbe(pools.probe, { logger, probe: canServe }).start();
  stop('stop the probe of the database', () => probe[Symbol.asyncDispose]());
  const jobs = new BackgroundJobs(config, { pool: jobPool, ready: probe.ready, logger, metrics: telemetry.metrics });
  stop('stop the outbox relay and retention', () => jobs[Symbol.asyncDispose]());
  const stopping = new AbortController();
  const vocabularyWritten = writeVocabulary(jobPool, logger, stopping.signal);
  stop('stop writing the vocabulary', () => {
    stopping.abort();
    return vocabularyWritten;
  });

  const peppers = new StoredPeppersFollower(config.auth.peppers, { pool: jobPool, ready: probe.ready, logger });
  stop('move hashes of keys', () => peppers[Symbol.asyncDispose]());
  const admission = controlAdmission(config, pool, peppers);
  telemetry.observeAdmission(admission);
  const urls = publicUrlsOf(config.public);
  const routes = apiRoutes(config, { pool, batchPool, batchTurns: admission.batches, urls }, now);
  const { prometheus_path: path, prometheus_port: port, prometheus_public: isPublic } = otel;
  const [scrape] = publicScrape(telemetry.scrape, path);
  const readiness = new Readiness({
    database_not_reached: () => !probe.hasReachedDatabase || !peppers.isChecked,
    pepper_mismatch: () => peppers.isMismatched,
  });
  const plainRoutes: PlainRoute[] = [
    ...operationalRoutes(readiness, isPublic ? scrape : undefined),
    ...pageRoutes(pool, servedOperations(routes), urls),
    graphqlRoute({
      serviceToken: config.graphql.service_token,
      introspection: config.graphql.introspection,
      ports: graphqlPorts(config, pool, now),
      refusals: admission.refusals,
      logger,
    }),
  ];
  const scrapeServer = { host: config.server.host, port, prefix: 'STORE_API_', correlationHeader: REQUEST_ID_HEADER, logger };
  opened.use(await serveScrape(scrape, scrapeServer));
  telemetry.countOperations(countedOperations(routes, plainRoutes));

  const app = createApiApp({ routes, plainRoutes, admission, events: telemetry, now });
  const { host, port: serverPort, max_connections: maxConnections, idle_grace_ms: idleGraceMs } = config.server;
  const api = opened.use(
    await serveApi(app, {
      host,
      port: serverPort,
      hostKey: 'server.host (STORE_API_SERVER_HOST)',
      portKey: 'server.port (STORE_API_SERVER_PORT)',
      maxConnections,
      idleGraceMs,
      correlationHeader: REQUEST_ID_HEADER,
      rejections: ENVELOPE_REJECTIONS,
      logger,
    }),
  );
  stop('send delayed refusals', async () => admission.stopPacing());
  telemetry.observeConnections(api.connections, maxConnections);
  opened.defer(() => readiness.shutDown());
  const running = opened.move();
  return { url: api.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function apiRoutes(
  { auth, build }: StoreApiConfig,
  parts: Pick<Parameters<typeof createRoutes>[0], 'pool' | 'batchPool' | 'batchTurns' | 'urls'>,
  now: () => number,
): ApiRoute[] {
  const technologyCursors = signedCursors(auth.peppers, 'technologies', now);
  return createRoutes({ ...parts, build, technologyCursors, random: randomBytes });
}

function countedOperations(routes: readonly ApiRoute[], plainRoutes: readonly PlainRoute[]): CountedOperation[] {
  return [
    ...routes.map(({ operation }) => ({ operationId: operation.operationId, outcomes: outcomesOf(operation) })),
    ...plainRoutes.flatMap(({ operationId, counted }) => counted ?? [{ operationId, outcomes: [{ status: 200, code: '' }] }]),
  ];
}

function controlAdmission({ storage }: StoreApiConfig, database: PostgresPool, peppers: StoredPeppersFollower): AdmissionControl {
  return new AdmissionControl({
    database,
    peppers,
    connections: storage.connections,
    batchConnections: BATCH_CONNECTIONS,
    clock: () => performance.now(),
  });
}

function graphqlPorts(config: StoreApiConfig, pool: PostgresPool, nowMs: () => number): GraphqlPorts {
  const candidateCursors = signedCursors(config.auth.peppers, 'candidates', nowMs);
  return { pool, urls: publicUrlsOf(config.public), candidateCursors, nowMs, random: randomBytes };
}

function openPools(config: StoreApiConfig) {
  return {
    requests: openPool(config, config.storage.connections),
    batches: openPool(config, BATCH_CONNECTIONS),
    probe: openPool(config, PROBE_CONNECTIONS),
    jobs: openPool(config, JOB_CONNECTIONS),
  };
}

/** Statements end with their request, and so do waits for another request with the same idempotency key. */
function openPool({ storage }: StoreApiConfig, maxConnections: number): PostgresPool {
  return new PostgresPool({
    dsn: storage.dsn,
    applicationName: APPLICATION,
    maxConnections,
    statementTimeoutMs: REQUEST_TIMEOUT_MS,
    lockTimeoutMs: REQUEST_TIMEOUT_MS,
  });
}
