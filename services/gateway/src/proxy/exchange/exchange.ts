import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import { isFreeRequest } from '@vitrine/trace-derivation/charging';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import { responseKindOf } from '@vitrine/trace-derivation/stored-responses';
import { traceIdIn } from '@vitrine/traces/traceparent';
import type { Outcome } from '@vitrine/traces/trace';
import type { ClientConnections } from '@vitrine/http-api/connections/client-connections';
import { rejectRequest } from '@vitrine/http-api/connections/reject-request';
import { sendRejection } from '@vitrine/http-api/connections/send-rejection';
import type { ClientResponse, MalformedRequestHandler } from '@vitrine/http-api/connections/client-response';
import { drainRequest } from '@vitrine/http-api/connections/drain-request';
import type { Rejection } from '@vitrine/http-api/rejection';
import { holdBody, type HeldBody, type HeldBodyRules } from '@vitrine/http-api/requests/hold-body';
import type { IncomingMessage } from 'node:http';
import { BodyCapture } from '../../recording/capture/body-capture.ts';
import { CORRELATION_HEADER } from '../../telemetry/correlation-id.ts';
import type { RequestTelemetry } from '../../telemetry/request-telemetry.ts';
import type { CostCheck } from '../../limits/cost-check.ts';
import type { GuardMode, Verdict } from '../privacy/request-guard.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import type { UpstreamControl, UpstreamHandler } from '../upstream/upstream-connection.ts';
import type { UpstreamError } from '../upstream/upstream-error.ts';
import type { Tracked } from './deadlines.ts';
import type { ReadHeaders } from './forwarded-headers.ts';
import { CUT_BY_SHUTDOWN, failureOf, lateFailure, OWN_FAILURE, type ExchangeFailure } from './exchange-failure.ts';
import { ForwardedResponse, microsSince } from './forwarded-response.ts';
import type { ProxiedRequest, ProxyContext, UpstreamRoute } from './proxy-context.ts';
import { providerCredential } from '../routing/provider-credential.ts';
import { readRequestBody, type RequestBody } from './request-body.ts';
import { acceptsTrailers, forwardedTrailers } from './trailers.ts';

/** One request on its way to a provider and back: moves bytes both ways with back-pressure, and emits exactly one captured exchange when it ends,
 *  in any way. Spec: G11.1, G11.5, G11.8, G11.9, G11.20. */
export class Exchange implements UpstreamHandler, Tracked, MalformedRequestHandler {
  extendByMs: number;
  deadlineAt = Number.POSITIVE_INFINITY;
  slot = 0;
  readonly #context: ProxyContext;
  readonly #route: UpstreamRoute;
  readonly #request: IncomingMessage;
  readonly #response: ClientResponse;
  readonly #connections: ClientConnections;
  readonly #correlationId: string;
  readonly #telemetry: RequestTelemetry | undefined;
  readonly #scope: ExchangeScope;
  readonly #onRejected: (reason: string | undefined) => void;
  readonly #startedAt: number;
  readonly #started = performance.now();
  readonly #sent: BodyCapture;
  readonly #forwarded: ForwardedResponse;
  #control: UpstreamControl | undefined;
  #retries = 0;
  readonly #requestHeaders: ReadHeaders;
  #outcome: Outcome = 'completed';
  #failure: ExchangeFailure | undefined;
  #isOver = false;
  #findings = '';
  #held: HeldBody | undefined;

  constructor(
    context: ProxyContext,
    route: UpstreamRoute,
    { request, response, connections, correlationId, telemetry }: ProxiedRequest,
    scope: ExchangeScope,
    /** Called with the reason of a rejection after admission. */
    onRejected: (reason: string | undefined) => void,
  ) {
    this.#context = context;
    this.#startedAt = context.clock();
    this.#route = route;
    this.#request = request;
    this.#response = response;
    this.#connections = connections;
    this.#correlationId = correlationId;
    this.#telemetry = telemetry;
    this.#scope = scope;
    this.#onRejected = onRejected;
    // A body that is inspected is sent with its length.
    const mayTrail = context.guard === undefined && request.headers['transfer-encoding'] !== undefined;
    this.#requestHeaders = context.headers.request(request.rawHeaders, request.headers.connection, mayTrail);
    this.#sent = new BodyCapture(context.budget, context.storedBodyMaxBytes, () => {});
    this.#forwarded = new ForwardedResponse(response, context, this.#started, () => this.#resume());
    this.extendByMs = context.times.firstByteTimeoutMs;
    context.deadlines.track(this);
    response.handler = this;
    response.on('close', () => this.#onClose());
  }

  /** Sends the request on. `path` is the checked path at the upstream. */
  forward(path: string): void {
    // While the request was delayed its client may have left, or sent something that is not HTTP.
    if (this.#isOver || this.#outcome !== 'completed') return;
    const { guard, costCheck } = this.#context;
    const { method = '', url = '' } = this.#request;
    const guardMode = guard?.modeOf({ provider: this.#route.provider, scope: this.#scope, path: url });
    const charged = costCheck !== undefined && !isFreeRequest({ method, path: url }) ? costCheck : undefined;
    const rules = guardMode === undefined ? charged : guard;
    if (rules !== undefined) return this.#forwardHeld(path, rules, guardMode, charged);
    const send = (body: RequestBody) => {
      if (!this.#isOver) this.#dispatch(path, body);
    };
    this.#response.sendContinue();
    readRequestBody(this.#request, this.#sent, send, () => this.#touchFirstByte());
  }

  /** Forwards a request after it was fully read and checked. Its trace is derived from what the client sent, not from the redacted body. */
  #forwardHeld(path: string, rules: HeldBodyRules, mode: GuardMode | undefined, costCheck: CostCheck | undefined): void {
    const { provider } = this.#route;
    const { url = '' } = this.#request;
    const { 'content-type': contentType } = this.#request.headers;
    this.#held = holdBody(this.#request, rules, this.#context.heldBodies, (outcome) => {
      if (this.#isOver) return;
      if ('rejection' in outcome) return this.reject(outcome.rejection);
      const { body } = outcome;
      const refused = costCheck?.rejection({ provider, path: url, contentType, body });
      if (refused !== undefined) return this.reject(refused);
      const verdict = this.#inspected(mode, contentType, body);
      this.#findings = verdict.findings;
      if (verdict.rejection !== undefined) return this.reject(verdict.rejection);
      this.#sent.setContentType(contentType);
      if (body !== undefined && body.length > 0) this.#sent.push(body);
      this.#dispatch(path, verdict.body, verdict.headers);
    });
    // It may already be rejected, for its headers.
    if (this.#outcome === 'completed') this.#response.sendContinue();
  }

  #inspected(mode: GuardMode | undefined, contentType: string | undefined, body: Buffer | undefined): Verdict {
    const headers = this.#forwardedHeaders();
    const { guard } = this.#context;
    if (guard === undefined || mode === undefined) return { headers, body, findings: '' };
    return guard.inspect(mode, { headers, path: this.#request.url ?? '', scope: this.#scope, contentType, body });
  }

  /** Responds instead of the provider, when a delayed request must not be forwarded. */
  reject(rejection: Rejection): void {
    this.#onRejected(rejection.reason);
    if (this.#isOver) return;
    this.#outcome = 'rejected';
    const rejected = { request: this.#request, response: this.#response, connections: this.#connections };
    rejectRequest(rejected, rejection, [CORRELATION_HEADER, this.#correlationId]);
  }

  /** The rest of the request is not HTTP. No more of it can be forwarded, and the start of a next request is unknown. */
  onMalformedRequest(rejection: Rejection): void {
    if (this.#isOver) return;
    this.#outcome = 'rejected';
    this.#control?.abort(this);
    sendRejection(this.#response, rejection, [CORRELATION_HEADER, this.#correlationId, 'Connection', 'close']);
  }

  onRetry(control: UpstreamControl): void {
    this.#control = control;
    this.#retries += 1;
  }

  onHead(head: ResponseHead): void {
    if (this.#isOver) return;
    this.#telemetry?.responded(head.status);
    const { method = '', url = '' } = this.#request;
    const kind = responseKindOf({ provider: this.#route.provider, method, path: url }, head.contentType);
    this.#forwarded.begin(head, kind, this.#correlationId, method === 'HEAD');
    this.#touch();
  }

  onData(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#forwarded.push(chunk);
    this.#touch();
  }

  onReadEnd(): void {
    if (!this.#isOver && !this.#forwarded.flush()) this.#control?.pause(this);
  }

  onEnd(trailers: readonly string[]): void {
    this.#telemetry?.upstreamEnded();
    this.#forwarded.end(trailers);
  }

  onError(error: UpstreamError): void {
    this.#telemetry?.upstreamEnded();
    if (this.#isOver) return;
    const failure = failureOf(error);
    if (failure !== undefined) return this.#fail(failure);
    this.#outcome = 'client_closed';
    this.#response.destroy();
  }

  onDeadline(): void {
    // The first reason counts.
    if (this.#isOver || this.#outcome !== 'completed') return;
    const late = {
      times: this.#context.times,
      isRequestWhole: this.#request.complete,
      hasBegun: this.#forwarded.headers !== undefined,
      isClientBehind: this.#forwarded.isClientBehind,
      isGatewayBehind: this.#forwarded.isGatewayBehind,
      upstream: this.#control?.progress(this),
    };
    const failure = this.#context.shutdown.aborted ? CUT_BY_SHUTDOWN : lateFailure(late);
    if (failure === undefined) this.#response.destroy();
    else this.#fail(failure);
  }

  #dispatch(path: string, body: RequestBody, headers = this.#forwardedHeaders()): void {
    this.#touchFirstByte();
    const traceParent = this.#telemetry?.sent(path);
    const request = this.#request;
    const { method = '' } = request;
    try {
      this.#control = this.#route.pool.send(
        {
          method,
          path,
          headers: traceParent === undefined ? headers : [...headers, 'traceparent', traceParent],
          body,
          trailers: () => forwardedTrailers(this.#context.headers.request, request.rawTrailers, request.headers.connection),
          acceptsTrailers: acceptsTrailers(request, this.#response),
        },
        this,
      );
    } catch (bug) {
      this.#fail(OWN_FAILURE);
      throw bug;
    }
  }

  /** The forwarded headers, which are also inspected. With spans on, the client's trace state comes from its span. */
  #forwardedHeaders(): string[] {
    const { forwarded } = this.#requestHeaders;
    const traceState = this.#telemetry?.traceState ?? '';
    return traceState === '' ? forwarded : [...forwarded, 'tracestate', traceState];
  }

  /** Ends the exchange after the provider failed or was too slow. Responds with an error if nothing was sent yet. Otherwise breaks the connection,
   *  because a response that ends normally would look complete. */
  #fail(failure: ExchangeFailure): void {
    if (this.#outcome !== 'completed') return;
    const { outcome, text, upstreamError } = failure;
    this.#outcome = outcome;
    this.#failure = failure;
    const status = outcome === 'timeout' ? 504 : 502;
    const correlationId = this.#correlationId;
    const response = this.#response;
    if (response.headersSent) {
      this.#forwarded.flush();
      response.destroy();
    } else {
      drainRequest(this.#request);
      sendRejection(response, { status, error: text, details: { upstream_error: upstreamError } }, [
        CORRELATION_HEADER,
        correlationId,
      ]);
    }
    this.#control?.abort(this);
    this.#context.onFailure({ failure, provider: this.#route.provider, status, correlationId, telemetry: this.#telemetry });
  }

  /** Called when the response is over: fully sent, or its connection is closed. */
  #onClose(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#held?.release();
    const isWhole = this.#response.writableFinished;
    if (!isWhole && this.#outcome === 'completed') this.#outcome = 'client_closed';
    if (!isWhole) this.#control?.abort(this);
    // A provider may respond before it has read everything; the rest of the request is read and dropped.
    if (!this.#request.complete) drainRequest(this.#request);
    const latencyUs = microsSince(this.#started);
    const waits = [this.#sent.finished(), this.#forwarded.finished()].filter((wait) => wait !== undefined);
    if (waits.length === 0) this.#handOver(latencyUs, isWhole);
    else void Promise.all(waits).then(() => this.#handOver(latencyUs, isWhole));
  }

  #handOver(latencyUs: number, isWhole: boolean): void {
    try {
      const request = this.#sent.captured(this.#request.complete ? 'whole' : 'cut');
      const response = this.#forwarded.captured(isWhole);
      const exchange = this.#captured(latencyUs, request, response);
      this.#telemetry?.exchangeEnded(exchange);
      this.#context.onEnd(exchange, this.#telemetry);
    } finally {
      this.#context.deadlines.forget(this);
    }
  }

  #captured(latencyUs: number, request: CapturedExchange['request'], response: CapturedExchange['response']): CapturedExchange {
    const { headers, firstByteUs, chunks } = this.#forwarded;
    return {
      provider: this.#route.provider,
      scope: this.#scope,
      method: this.#request.method ?? '',
      path: this.#request.url ?? '',
      sentStatus: this.#response.headersSent ? this.#response.statusCode : 0,
      outcome: this.#outcome,
      startedAt: this.#startedAt,
      endedAt: this.#context.clock(),
      latencyUs,
      firstByteUs,
      correlationId: this.#correlationId,
      otelTraceId: traceIdIn(this.#request.headers['traceparent']),
      requestHeaders: this.#requestHeaders.stored,
      responseHeaders: headers?.stored ?? '',
      secretHeaders: this.#requestHeaders.secrets + (headers?.secrets ?? 0),
      hasLineage: this.#requestHeaders.hasOwn,
      credential: providerCredential(this.#request.headers),
      findings: this.#findings,
      upstreamError: this.#failure?.upstreamError,
      upstreamErrorDetail: this.#failure?.detail ?? '',
      retries: this.#retries,
      request,
      response,
      responseChunks: chunks,
      chunkTimes: this.#forwarded.chunkTimes,
    };
  }

  #resume(): void {
    if (!this.#forwarded.isClientBehind && !this.#forwarded.isGatewayBehind) this.#control?.resume(this);
  }

  #touch(): void {
    this.extendByMs = this.#context.times.idleTimeoutMs;
  }

  #touchFirstByte(): void {
    this.extendByMs = this.#context.times.firstByteTimeoutMs;
  }
}
