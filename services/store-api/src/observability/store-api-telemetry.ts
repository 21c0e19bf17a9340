import { codeOf } from '@vitrine/faults/fault';
import type { ClientConnections } from '@vitrine/http-api/connections/client-connections';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { POOL_INSTRUMENTS, poolReadings } from '@vitrine/postgres/pool-instruments';
import { BILLING_UNITS } from '@vitrine/stores/resources/billing';
import type { OtelConfig } from '@vitrine/telemetry/config/otel-config';
import type { Logger } from '@vitrine/telemetry/logger';
import { ServiceTelemetry, startServiceTelemetry } from '@vitrine/telemetry/service-telemetry';
import type { Telemetry } from '@vitrine/telemetry/start-telemetry';
import { REJECTION_REASONS } from '../http/key-gate.ts';
import type { CountedOperation } from '../http/plain-route.ts';
import type { RequestEvents, ServedRequest } from '../http/request-events.ts';
import { VERSION } from '../version.ts';
import { BILLING_INSTRUMENTS, CONNECTION_INSTRUMENTS } from './instruments.ts';
import { recordRequestSpan } from './request-span.ts';
import { RequestSeries } from './request-series.ts';

const SEE = 'docs/failure-modes.md';

const NEXT_STEPS: Readonly<Record<string, string>> = {
  deadline_exceeded: `look at load and locks of the database: ${SEE}#deadline_exceeded`,
  billing_unknown: `look for the operation in the ledger once the database is there: ${SEE}#billing_unknown`,
};

/** Logs, metrics and spans of requests; the latter two do nothing when telemetry is off. */
export class StoreApiTelemetry extends ServiceTelemetry implements RequestEvents {
  readonly #logger: Logger;
  readonly #logsAccess: boolean;
  readonly #billed = new Map<string, number>(BILLING_UNITS.map((unit) => [unit, 0]));
  readonly #rejections = new Map<string, number>(REJECTION_REASONS.map((reason) => [reason, 0]));
  #replays = 0;
  #deadlines = 0;
  #billingUnknown = 0;
  #clientsLeft = 0;
  #releaseFailures = 0;
  #requests: RequestSeries | undefined;

  private constructor(telemetry: Telemetry | undefined, logger: Logger, logsAccess: boolean) {
    super(telemetry);
    this.#logger = logger;
    this.#logsAccess = logsAccess;
    this.metrics?.observe(BILLING_INSTRUMENTS, () => ({
      billed: [...this.#billed].map(([unit, count]) => [{ unit }, count] as const),
      rejections: [...this.#rejections].map(([reason, count]) => [{ reason }, count] as const),
      replays: this.#replays,
      deadlines: this.#deadlines,
      billingUnknown: this.#billingUnknown,
      clientsLeft: this.#clientsLeft,
      releaseFailures: this.#releaseFailures,
    }));
  }

  static async start(config: OtelConfig, logger: Logger, logsAccess: boolean): Promise<StoreApiTelemetry> {
    const telemetry = await startServiceTelemetry({ config, version: VERSION, name: 'store-api', logger });
    return new StoreApiTelemetry(telemetry, logger, logsAccess);
  }

  countOperations(operations: readonly CountedOperation[]): void {
    this.#requests = this.metrics && new RequestSeries(this.metrics, operations);
  }

  observePools(read: () => Readonly<Record<string, PoolFigures>>): void {
    this.metrics?.observe(POOL_INSTRUMENTS, () => poolReadings(read()));
  }

  observeConnections(connections: ClientConnections, limit: number): void {
    this.metrics?.observe(CONNECTION_INSTRUMENTS, () => ({
      connections: connections.size,
      connectionLimit: limit,
      connectionsClosed: Object.entries(connections.closed).map(([reason, count]) => [{ reason }, count] as const),
    }));
  }

  served(request: ServedRequest): void {
    const { operationId, status, code, reason, billed, startedAt, endedAt } = request;
    const ids = this.tracer && recordRequestSpan(this.tracer, request);
    this.#requests?.record(operationId, status, code, (endedAt - startedAt) / 1_000, ids);
    for (const [unit, count] of Object.entries(billed)) this.#billed.set(unit, (this.#billed.get(unit) ?? 0) + count);
    const rejections = reason === undefined ? undefined : this.#rejections.get(reason);
    if (reason !== undefined && rejections !== undefined) this.#rejections.set(reason, rejections + 1);
    if (request.replayOf !== undefined) this.#replays += 1;
    if (reason === 'deadline_exceeded') this.#deadlines += 1;
    if (reason === 'billing_unknown') this.#billingUnknown += 1;
    if (status === 0) this.#clientsLeft += 1;
    this.#log(request);
  }

  releaseFailed(error: unknown): void {
    this.#releaseFailures += 1;
    this.#logger.warn({ ...databaseErrorFields(error) }, 'slot of a request not freed');
  }

  responseFailed(error: unknown): void {
    this.#logger.error({ err: error, next_step: 'report it with this line: it is a bug' }, 'response not written');
  }

  #log(request: ServedRequest): void {
    const { requestId, operationId, method, status, code, reason, workspaceId, keyId, billed, replayOf, error } = request;
    const fields = { request_id: requestId, operation: operationId, workspace_id: workspaceId, key_id: keyId };
    if (status >= 500 && error !== undefined) {
      const next_step = NEXT_STEPS[codeOf(error)];
      const about = next_step === undefined ? databaseErrorFields(error) : { err: error, next_step };
      this.#logger.error({ ...fields, ...about }, 'request failed');
    }
    if (replayOf !== undefined) this.#logger.info({ ...fields, replay_of: replayOf }, 'response replayed');
    if (!this.#logsAccess) return;
    const duration_ms = Math.round((request.endedAt - request.startedAt) * 10) / 10;
    this.#logger.info({ ...fields, method, status, code, reason, billed, duration_ms }, 'request served');
  }
}
