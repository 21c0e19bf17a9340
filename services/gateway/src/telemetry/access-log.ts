import type { Logger } from '@vitrine/telemetry/logger';
import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import { NO_SCOPE, type ExchangeScope } from '@vitrine/traces/exchange-scope';
import { redactPath } from '@vitrine/privacy/scrub';
import type { Outcome, Provider } from '@vitrine/traces/trace';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CORRELATION_HEADER, correlationIdOf } from './correlation-id.ts';
import type { RedactPath } from '@vitrine/privacy/path-redactor';
import { metricsOutcomeOf, metricsStatusOf } from './exchange-facts.ts';

const MESSAGE = 'request ended';

/** Writes one line of the log for each request when its response has ended, at any `log.level` except `silent`. */
export interface AccessLog {
  /** To be called when the request's head has arrived, before it is handled. */
  begin(request: IncomingMessage, response: ServerResponse): AccessEntry;
  /** For a request that could not be parsed. */
  refused(status: number, correlationId: string, request?: Pick<IncomingMessage, 'method' | 'url'>): void;
}

export function openAccessLog(logger: Logger, redactPathFor: RedactPath): AccessLog | undefined {
  if (logger.level === 'silent') return undefined;
  const lines = logger.child({}, { level: 'info' });
  const pathOf = ({ url = '' }: Pick<IncomingMessage, 'url'>, scope: ExchangeScope) => redactPathFor(redactPath(url).text, scope);
  return {
    begin: (request, response) => new AccessEntry(lines, pathOf, request, response),
    refused: (status, correlationId, request) => {
      const target = request && { method: request.method, path: pathOf(request, NO_SCOPE) };
      lines.info({ ...target, status, outcome: 'rejected', correlation_id: correlationId }, MESSAGE);
    },
  };
}

/** Facts of one request. Bytes are those of bodies as framed on the wire. */
export class AccessEntry {
  provider: Provider | undefined;
  scope: ExchangeScope = NO_SCOPE;
  /** Whether it was rejected before it was served. */
  isRejected = false;
  readonly #lines: Logger;
  readonly #pathOf: (request: IncomingMessage, scope: ExchangeScope) => string;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #startedAt = performance.now();
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(
    lines: Logger,
    pathOf: (request: IncomingMessage, scope: ExchangeScope) => string,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.#lines = lines;
    this.#pathOf = pathOf;
    this.#request = request;
    this.#response = response;
    // From now on every reader of the request's id gets the one in the log line.
    request.headers[CORRELATION_HEADER.toLowerCase()] = correlationIdOf(request.headers);
    this.#countBytes();
  }

  /** For a response of the gateway itself. */
  responded(): void {
    const { headersSent, statusCode, writableFinished } = this.#response;
    const outcome = this.isRejected ? 'rejected' : writableFinished ? 'completed' : 'client_closed';
    this.#write(headersSent ? statusCode : 499, outcome, performance.now() - this.#startedAt, this.#bytesOut);
  }

  /** For a finished exchange with a provider. */
  exchangeEnded(exchange: CapturedExchange): void {
    const { latencyUs, response } = exchange;
    this.provider = exchange.provider;
    this.scope = exchange.scope;
    this.#write(metricsStatusOf(exchange), metricsOutcomeOf(exchange), latencyUs / 1_000, response.bytes || this.#bytesOut);
  }

  #write(status: number, outcome: Outcome, latencyMs: number, bytesOut: number): void {
    const { org_id, workspace_id, gateway_key_id } = this.scope;
    const known = { provider: this.provider, org_id, workspace_id, gateway_key_id };
    const line = {
      method: this.#request.method,
      path: this.#pathOf(this.#request, this.scope),
      status,
      outcome,
      latency_ms: Math.round(latencyMs),
      bytes_in: this.#bytesIn,
      bytes_out: this.#request.method === 'HEAD' ? 0 : bytesOut,
      ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined && value !== '')),
      correlation_id: this.#request.headers[CORRELATION_HEADER.toLowerCase()],
    };
    this.#lines.info(line, MESSAGE);
  }

  /** Bodies pass through these methods, except the chunks of a provider's response, which go to the socket and are counted by the exchange. */
  #countBytes(): void {
    const [request, response] = [this.#request, this.#response];
    const push = request.push.bind(request);
    request.push = (chunk: unknown, encoding) => {
      this.#bytesIn += lengthOf(chunk);
      return push(chunk, encoding);
    };
    for (const method of ['write', 'end'] as const) {
      const pass = response[method].bind(response) as (...values: unknown[]) => unknown;
      const counted = (...values: unknown[]) => {
        this.#bytesOut += lengthOf(values[0]);
        return pass(...values);
      };
      Object.assign(response, { [method]: counted });
    }
  }
}

function lengthOf(chunk: unknown): number {
  if (typeof chunk === 'string') return Buffer.byteLength(chunk);
  return chunk instanceof Uint8Array ? chunk.length : 0;
}
