import type { Identity } from '@vitrine/gateway-keys/gateway-key';
import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import type { Provider } from '@vitrine/traces/trace';
import type { UpstreamErrorClass } from '@vitrine/traces/upstream-error';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, RejectedCaller } from '../auth/caller.ts';
import type { AccessEntry, AccessLog } from './access-log.ts';
import { metricsStatusOf, requestModelOf, genaiOperationName } from './exchange-facts.ts';
import type { GatewayMetrics } from './metrics/gateway-metrics.ts';
import type { RequestSpan } from './spans/request-span.ts';
import type { GatewaySpans } from './start-gateway-telemetry.ts';
import { routeOf } from '@vitrine/traces/trace-measures';

/** The destinations of a request's telemetry. */
export interface TelemetryContext {
  readonly spans: GatewaySpans | undefined;
  readonly metrics: GatewayMetrics | undefined;
  /** Whether the attributes and metrics of the GenAI conventions are recorded too. */
  readonly genai: boolean;
  /** Undefined unless it is on. */
  readonly access?: AccessLog | undefined;
}

/** How a request ended. */
interface Ending {
  /** See `metricsStatusOf`. */
  readonly status: number;
  readonly upstreamError?: UpstreamErrorClass | undefined;
  readonly upstreamErrorDetail?: string | undefined;
  /** Of a stream. */
  readonly firstChunkMs?: number | undefined;
}

const NO_TENANT = { org_id: undefined, workspace_id: undefined };

/** Records the spans and metrics of one request, starting at its request line. Spec: G14.18 to G14.34. */
export class RequestTelemetry {
  readonly #context: TelemetryContext;
  readonly #route: string;
  readonly #span: RequestSpan | undefined;
  readonly #access: AccessEntry | undefined;
  readonly #startedAt = performance.now();
  #identity: Identity | undefined;
  #provider: Provider | undefined;
  #operation: string | undefined;
  #model: string | undefined;
  #sentAt: number | undefined;
  #answeredAt: number | undefined;
  #upstreamStatus: number | undefined;

  /** `route`: `/openai/*`, `/anthropic/*`, `/api/*` or `/other`. */
  constructor(context: TelemetryContext, route: string, request: IncomingMessage, response: ServerResponse) {
    const { method = '', headers } = request;
    this.#context = context;
    this.#route = route;
    this.#access = context.access?.begin(request, response);
    this.#span = context.spans?.begin(this.#startedAt, method, route, headers);
  }

  /** Runs `work` with the request's span active, so that its log lines have the ids of the span. */
  run<T>(work: () => T): T {
    return this.#span === undefined ? work() : this.#span.run(work);
  }

  /** Checks the request's key with `decide`. */
  authenticate(decide: () => Caller | RejectedCaller, correlationId: string): Caller | RejectedCaller {
    const startedAt = performance.now();
    const verdict = decide();
    if (this.#access !== undefined) this.#access.scope = ('rejection' in verdict ? verdict.caller : verdict).scope;
    if ('rejection' in verdict) {
      if (this.#access !== undefined) this.#access.isRejected = true;
      this.#identity = verdict.caller.identity;
      const { reason } = verdict.rejection;
      this.#span?.authenticated(startedAt, performance.now(), reason === 'key_verification_unavailable' ? 'unavailable' : reason);
    } else if (verdict.identity !== undefined) {
      const { org_id, workspace_id, key_id, role } = (this.#identity = verdict.identity);
      this.#span?.authenticated(startedAt, performance.now(), { org_id, workspace_id, key_id, role, correlationId });
    }
    return verdict;
  }

  /** Called for a request for a provider. */
  belongsTo(provider: Provider | undefined): void {
    this.#provider = provider;
    if (this.#access !== undefined) this.#access.provider = provider;
  }

  /** With spans, the trace state of the client's valid `traceparent`: to be forwarded like its other headers. */
  get traceState(): string {
    return this.#span?.traceState ?? '';
  }

  /** Called when the request is sent to its provider. Returns the `traceparent` for it, undefined without spans. */
  sent(path: string): string | undefined {
    this.#sentAt = performance.now();
    if (this.#context.genai) this.#operation = genaiOperationName(path);
    return this.#span?.startUpstream(this.#sentAt, { provider: this.#provider ?? 'unknown', operation: this.#operation });
  }

  /** Called when the provider's response has begun. */
  responded(status: number): void {
    this.#upstreamStatus = status;
  }

  /** Called when the provider's response has ended, or never will. */
  upstreamEnded(): void {
    this.#answeredAt ??= performance.now();
  }

  /** Called when an exchange with a provider is over. */
  exchangeEnded(exchange: CapturedExchange): void {
    const { firstByteUs, upstreamError, upstreamErrorDetail } = exchange;
    this.#model = requestModelOf(exchange.request);
    this.#ended({
      status: metricsStatusOf(exchange),
      upstreamError,
      upstreamErrorDetail,
      firstChunkMs: firstByteUs === 0 ? undefined : firstByteUs / 1_000,
    });
    if (this.#access !== undefined) this.run(() => this.#access?.exchangeEnded(exchange));
  }

  /** Called when the gateway responds itself; the request ends with `response`. */
  endsWith(response: ServerResponse, isRejected = false): void {
    if (this.#access !== undefined && isRejected) this.#access.isRejected = true;
    response.once('close', () => {
      this.#ended({ status: response.headersSent ? response.statusCode : 499 });
      if (this.#access !== undefined) this.run(() => this.#access?.responded());
    });
  }

  /** Offers the request's trace to a queue. */
  enqueue(exchange: CapturedExchange, enqueue: (exchange: CapturedExchange) => boolean): void {
    const startedAt = performance.now();
    const isAccepted = enqueue(exchange);
    this.#span?.enqueued(startedAt, performance.now(), isAccepted, this.#identity ?? NO_TENANT);
    if (!isAccepted) this.#context.metrics?.traceDropped(this.#labels(), metricsStatusOf(exchange));
  }

  #ended({ status, upstreamError, upstreamErrorDetail, firstChunkMs }: Ending): void {
    const now = performance.now();
    const { metrics } = this.#context;
    const providerMs = this.#sentAt === undefined ? undefined : (this.#answeredAt ?? now) - this.#sentAt;
    const ended = {
      ...this.#labels(),
      status,
      durationMs: now - this.#startedAt,
      providerMs,
      upstreamStatus: this.#upstreamStatus,
      upstreamError,
      upstreamErrorDetail,
      upstreamEndedAt: this.#answeredAt,
    };
    this.#span?.finish(now, ended);
    metrics?.requestEnded(ended, this.#span?.sampledIds);
    if (metrics?.genai === undefined || this.#operation === undefined || providerMs === undefined) return;
    const operation = { operation: this.#operation, provider: this.#provider ?? 'unknown', requestModel: this.#model };
    const errorType = upstreamError ?? (status >= 400 ? String(status) : undefined);
    metrics.genai.operationEnded(operation, { durationMs: providerMs, firstChunkMs, errorType });
  }

  #labels() {
    const { org_id, workspace_id } = this.#identity ?? NO_TENANT;
    return { provider: this.#provider, model: this.#model, org_id, workspace_id, route: this.#route };
  }
}

/** Begins the telemetry of a request. */
export type InstrumentRequest = (request: IncomingMessage, response: ServerResponse) => RequestTelemetry;

/** The proxied providers, and the provider of a request target. */
export interface ProxiedProviders {
  readonly providers: readonly Provider[];
  readonly providerOf: (target: string) => Provider | undefined;
}

export function instrumentRequests(context: TelemetryContext, { providers, providerOf }: ProxiedProviders): InstrumentRequest {
  for (const provider of providers) context.metrics?.declareProvider(provider, routeOf(provider));
  return (request, response) => new RequestTelemetry(context, routePatternOf(request.url ?? '', providerOf), request, response);
}

/** Spec: G14.34: the values of `route`. */
function routePatternOf(target: string, providerOf: ProxiedProviders['providerOf']): string {
  const provider = providerOf(target);
  if (provider !== undefined) return routeOf(provider);
  return /^\/api(?:[/?]|$)/.test(target) ? '/api/*' : '/other';
}
