import type { ClientConnections } from '@vitrine/http-api/connections/client-connections';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { POOL_INSTRUMENTS, poolReadings } from '@vitrine/postgres/pool-instruments';
import { BILLING_UNITS } from '@vitrine/stores/resources/billing';
import type { OtelConfig } from '@vitrine/telemetry/config/otel-config';
import type { Logger } from '@vitrine/telemetry/logger';
import { ServiceTelemetry, startServiceTelemetry } from '@vitrine/telemetry/service-telemetry';
import type { Telemetry } from '@vitrine/telemetry/start-telemetry';
import type { AdmissionControl } from '../admission/admission-control.ts';
import { REJECTION_REASONS } from '../admission/key-gate.ts';
import type { CountedOperation } from '../http/plain-route.ts';
import type { RequestEvents, ServedRequest } from '../http/request-events.ts';
import { VERSION } from '../config.ts';
import { ADMISSION_INSTRUMENTS, BILLING_INSTRUMENTS, CONNECTION_INSTRUMENTS, REQUEST_INSTRUMENTS } from './instruments.ts';
import { boundOf, OVERLOAD_BOUNDS, RequestLog } from './request-log.ts';
import type { Tracer } from '@opentelemetry/api';
import type { SpanIds } from '@vitrine/telemetry/active-span';
import { ServerSpan } from '@vitrine/telemetry/spans/server-span';
import { DurationSeries } from '@vitrine/telemetry/metrics/duration-series';
import type { MetricAttributes, ServiceMetrics } from '@vitrine/telemetry/metrics/instrument';
import { counterData, histogramData } from '@vitrine/telemetry/metrics/metric-data';
import { SeriesTable } from '@vitrine/telemetry/metrics/series-table';

/** Operations, statuses and codes are a fixed vocabulary; this is far above their number. */
const CAPACITY = 2_048;

/** Counts requests and their durations. */
class RequestSeries {
  readonly #counts: SeriesTable<{ attributes: MetricAttributes; startedAt: number; value: number }>;
  readonly #durations = new Map<string, DurationSeries>();
  readonly #startedAt = Date.now();

  constructor(metrics: ServiceMetrics, operations: readonly CountedOperation[]) {
    const startedAt = this.#startedAt;
    const make = (attributes: MetricAttributes) => ({ attributes, startedAt, value: 0 });
    this.#counts = new SeriesTable({ capacity: CAPACITY, collapsible: ['status', 'code'], make });
    for (const { operationId, outcomes } of operations)
      for (const { status, code } of outcomes) this.#seriesOf(operationId, status, code);
    metrics.addSource((now) => [
      counterData(REQUEST_INSTRUMENTS.requests, [...this.#counts.series()], now),
      histogramData(REQUEST_INSTRUMENTS.duration, [...this.#durations.values()], now),
    ]);
  }

  record(operation: string, status: number, code: string, seconds: number, ids: SpanIds | undefined): void {
    this.#seriesOf(operation, status, code).value += 1;
    let duration = this.#durations.get(operation);
    if (duration === undefined) {
      duration = new DurationSeries({ operation }, REQUEST_INSTRUMENTS.duration.buckets, this.#startedAt);
      this.#durations.set(operation, duration);
    }
    duration.record(seconds, ids, Date.now());
  }

  #seriesOf(operation: string, status: number, code: string) {
    const key = [operation, status, code] as const;
    return this.#counts.get(key) ?? this.#counts.add(key, { operation, status, code });
  }
}

/** Logs, metrics and spans of requests; the latter two do nothing when telemetry is off. */
export class StoreApiTelemetry extends ServiceTelemetry implements RequestEvents {
  readonly #logger: Logger;
  readonly #requestLog: RequestLog;
  readonly #billed = new Map<string, number>(BILLING_UNITS.map((unit) => [unit, 0]));
  readonly #rejections = new Map<string, number>(REJECTION_REASONS.map((reason) => [reason, 0]));
  readonly #overloads = new Map<string, number>(OVERLOAD_BOUNDS.map((bound) => [bound, 0]));
  #replays = 0;
  #deadlines = 0;
  #billingUnknown = 0;
  #clientsLeft = 0;
  #releaseFailures = 0;
  #requests: RequestSeries | undefined;

  private constructor(telemetry: Telemetry | undefined, logger: Logger, logsAccess: boolean) {
    super(telemetry);
    this.#logger = logger;
    this.#requestLog = new RequestLog(logger, logsAccess, () => performance.now());
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

  observeAdmission(admission: AdmissionControl): void {
    const read = (name: 'used' | 'limit' | 'waiting') =>
      admission.readings().map(({ bound, ...reading }) => [{ bound }, reading[name]] as const);
    this.metrics?.observe(ADMISSION_INSTRUMENTS, () => ({
      used: read('used'),
      limit: read('limit'),
      waiting: read('waiting'),
      overloaded: [...this.#overloads].map(([bound, count]) => [{ bound }, count] as const),
      delayed: admission.refusals.delayed + admission.limits.delayed,
      suppressed: this.#requestLog.suppressed,
    }));
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
    if (code === 'overloaded') this.#countOverload(boundOf(request.error));
    this.#requestLog.add(request);
  }

  /** Writes pending log lines. */
  flushLog(): void {
    this.#requestLog[Symbol.dispose]();
  }

  releaseFailed(error: unknown): void {
    this.#releaseFailures += 1;
    this.#logger.warn({ ...databaseErrorFields(error) }, 'slot of a request not freed');
  }

  responseFailed(error: unknown): void {
    this.#logger.error({ err: error, next_step: 'report it with this line: it is a bug' }, 'response not written');
  }

  #countOverload(bound: string): void {
    this.#overloads.set(bound, (this.#overloads.get(bound) ?? 0) + 1);
  }
}

/** Methods with their own span name (OpenTelemetry: HTTP spans). */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']);

/** Records the spans of a served request, and returns their ids if they are sampled. */
function recordRequestSpan(tracer: Tracer, served: ServedRequest): SpanIds | undefined {
  const { operationId, status, code, route, startedAt, admittedAt, endedAt } = served;
  const method = METHODS.has(served.method) ? served.method : '_OTHER';
  const span = new ServerSpan(tracer, `${method === '_OTHER' ? 'HTTP' : method} ${route}`, startedAt, served.headers);
  if (admittedAt !== undefined) span.recordChild({ name: 'store_api.admit', startedAt, endedAt: admittedAt });
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'vitrine.operation': operationId,
    'http.response.status_code': status,
    ...(code === '' ? {} : { 'error.type': code }),
    'vitrine.request_id': served.requestId,
    ...(served.keyId === undefined ? {} : { 'vitrine.key_id': served.keyId }),
  };
  span.end(endedAt, { attributes, failure: status >= 500 ? code : undefined });
  return span.sampledIds;
}
