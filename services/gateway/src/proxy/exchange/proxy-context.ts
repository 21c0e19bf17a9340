import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import type { ClientConnections } from '@vitrine/http-api/connections/client-connections';
import type { ClientResponse } from '@vitrine/http-api/connections/client-response';
import type { IncomingMessage } from 'node:http';
import type { BodyBudget } from '../../recording/capture/body-budget.ts';
import type { RequestTelemetry } from '../../telemetry/request-telemetry.ts';
import type { CostCheck } from '../../limits/cost-check.ts';
import type { RequestGuard } from '../privacy/request-guard.ts';
import type { UpstreamPool } from '../upstream/upstream-pool.ts';
import type { Deadlines } from './deadlines.ts';
import type { ProxyTimes } from './exchange-failure.ts';
import type { HeaderReaders } from './forwarded-headers.ts';
import type { ProviderRoute } from '../routing/request-target.ts';
import type { FailedExchange } from './upstream-error-log.ts';

export interface UpstreamRoute extends ProviderRoute {
  readonly pool: UpstreamPool;
}

/** What all exchanges of a gateway share. */
export interface ProxyContext {
  readonly times: ProxyTimes;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly deadlines: Deadlines;
  readonly budget: BodyBudget;
  readonly headers: HeaderReaders;
  /** Undefined when no request is inspected before it is forwarded. */
  readonly guard: RequestGuard | undefined;
  /** Undefined when requests of unknown cost are forwarded. */
  readonly costCheck: CostCheck | undefined;
  /** The memory of bodies that are read before they are forwarded. */
  readonly heldBodies: BodyBudget;
  /** 0 when bodies are not stored. */
  readonly storedBodyMaxBytes: number;
  /** Aborted when exchanges in flight are cut, so that the gateway can stop. */
  readonly shutdown: AbortSignal;
  readonly onFailure: (failed: FailedExchange) => void;
  readonly onEnd: (exchange: CapturedExchange, telemetry: RequestTelemetry | undefined) => void;
}

/** A request for a provider, and its response. */
export interface ProxiedRequest {
  readonly request: IncomingMessage;
  readonly response: ClientResponse;
  readonly correlationId: string;
  /** Undefined without telemetry. */
  readonly telemetry: RequestTelemetry | undefined;
  /** The connections of the server that received the request. */
  readonly connections: ClientConnections;
}
