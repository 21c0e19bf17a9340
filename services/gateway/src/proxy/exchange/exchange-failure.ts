import type { UpstreamErrorClass } from '@vitrine/traces/upstream-error';
import type { UpstreamProgress } from '../upstream/upstream-connection.ts';
import type { UpstreamError } from '../upstream/upstream-error.ts';

/** Why an exchange with a provider failed although its client had not left. */
export interface ExchangeFailure {
  readonly outcome: 'upstream_error' | 'timeout';
  /** For the client, when no response has begun. */
  readonly text: string;
  /** Undefined: the provider is not to blame. */
  readonly upstreamError: UpstreamErrorClass | undefined;
  /** '' without a class. */
  readonly detail: string;
  readonly cause?: unknown;
}

/** The error text for the client, and the next step for an operator. More in docs/failure-modes.md, Upstream errors. */
const CLASSES: Readonly<Record<UpstreamErrorClass, Pick<ExchangeFailure, 'outcome' | 'text'> & { readonly nextStep: string }>> = {
  dns: {
    outcome: 'upstream_error',
    text: "the provider's name could not be resolved",
    nextStep: 'check providers.<name>.upstream and the DNS servers of this machine',
  },
  connect_refused: {
    outcome: 'upstream_error',
    text: 'the provider could not be reached',
    nextStep: 'check host and port in providers.<name>.upstream, whether it listens there, and routes and firewalls',
  },
  connect_timeout: {
    outcome: 'timeout',
    text: 'the provider could not be reached in time',
    nextStep: 'check firewalls and the network to the provider; proxy.connect_timeout_ms bounds the wait',
  },
  tls: {
    outcome: 'upstream_error',
    text: 'no secure connection to the provider could be made',
    nextStep: "check the provider's certificate, its name in providers.<name>.upstream, and that it serves https there",
  },
  reset: {
    outcome: 'upstream_error',
    text: 'the provider closed the connection before its response was complete',
    nextStep: "check the provider's status and any proxy between it and this gateway",
  },
  first_byte_timeout: {
    outcome: 'timeout',
    text: 'the provider did not respond in time',
    nextStep: "check the provider's status, or raise proxy.first_byte_timeout_ms",
  },
  idle_timeout: {
    outcome: 'timeout',
    text: 'the provider stopped sending its response',
    nextStep: "check the provider's status, or raise proxy.idle_timeout_ms",
  },
  malformed_response: {
    outcome: 'upstream_error',
    text: "the provider's response is not valid HTTP/1.1",
    nextStep:
      'check that providers.<name>.upstream is an HTTP/1.1 server, with the right scheme and port, and any proxy in front of it',
  },
};

export function nextStepOf(upstreamError: UpstreamErrorClass): string {
  return CLASSES[upstreamError].nextStep;
}

/** Failures of the provider or of the network to it. */
export function upstreamFailure(upstreamError: UpstreamErrorClass, detail: string, cause?: unknown): ExchangeFailure {
  const { outcome, text } = CLASSES[upstreamError];
  return { outcome, text: `${text} (${upstreamError})`, upstreamError, detail, cause };
}

/** What ended a request on its connection. Undefined: the client has left. */
export function failureOf({ code, message, cause }: UpstreamError): ExchangeFailure | undefined {
  if (code === 'request_aborted') return undefined;
  return code === 'request_failed' ? OWN_FAILURE : upstreamFailure(code, message, cause);
}

/** A bug in the gateway, which is logged where it is caught. */
export const OWN_FAILURE: ExchangeFailure = ownFailure('upstream_error', 'the request could not be forwarded');
export const CUT_BY_SHUTDOWN: ExchangeFailure = ownFailure('timeout', 'the gateway is shutting down');

export interface ProxyTimes {
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** An exchange whose deadline has passed. */
export interface LateExchange {
  readonly times: ProxyTimes;
  /** Whether the client has sent its whole request. */
  readonly isRequestWhole: boolean;
  /** Whether the head of the response has arrived. */
  readonly hasBegun: boolean;
  /** Whether the client or the gateway is behind in reading the response. */
  readonly isClientBehind: boolean;
  readonly isGatewayBehind: boolean;
  /** Progress of the request on its connection; undefined before it has begun and after it has ended. */
  readonly upstream: UpstreamProgress | undefined;
}

/** Which side has exceeded its time. Undefined: a client that does not read its response. */
export function lateFailure(late: LateExchange): ExchangeFailure | undefined {
  const { times, isRequestWhole, hasBegun, upstream } = late;
  const { firstByteTimeoutMs, idleTimeoutMs } = times;
  if (hasBegun) {
    if (late.isClientBehind || upstream === undefined) return undefined;
    if (late.isGatewayBehind) return ownFailure('timeout', 'the response was not read in time');
    return upstreamFailure('idle_timeout', `nothing for ${idleTimeoutMs} ms, ${upstream.received}`);
  }
  if (upstream === undefined) return ownFailure('timeout', 'the request did not arrive in time');
  if (upstream.stage !== 'open') {
    const what = { dns: 'its name is being resolved', connect: 'TCP is connecting', tls: 'TLS handshake under way' }[
      upstream.stage
    ];
    const detail = `no connection within first_byte_timeout_ms ${firstByteTimeoutMs}, ${what}`;
    return upstreamFailure(upstream.stage === 'dns' ? 'dns' : 'connect_timeout', detail);
  }
  if (upstream.isSendingBlocked)
    return upstreamFailure('first_byte_timeout', `request body not taken for ${firstByteTimeoutMs} ms`);
  if (!isRequestWhole) return ownFailure('timeout', 'the request did not arrive in time');
  return upstreamFailure('first_byte_timeout', `no response within ${firstByteTimeoutMs} ms, stopped ${upstream.received}`);
}

function ownFailure(outcome: ExchangeFailure['outcome'], text: string): ExchangeFailure {
  return { outcome, text, upstreamError: undefined, detail: '' };
}
