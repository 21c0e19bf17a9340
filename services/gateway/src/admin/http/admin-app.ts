import type { Identity } from '@vitrine/gateway-keys/gateway-key';
import type { Permission } from '@vitrine/gateway-keys/permission';
import { createApiApp, type RawRoute } from '@vitrine/http-api/api-app';
import type { ApiDescription } from '@vitrine/http-api/openapi/openapi-document';
import type { Logger } from '@vitrine/telemetry/logger';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { RequestTelemetry } from '../../telemetry/request-telemetry.ts';
import type { AdminRoute } from './admin-route.ts';
import { CORRELATION_HEADER } from '../../telemetry/correlation-id.ts';
import type { FaultStatuses } from '@vitrine/http-api/send-fault';
import { Fault } from '@vitrine/faults/fault';
import type { AuditTrail } from '../../auth/audit/audit-trail.ts';
import type { Authenticate, RejectedCaller } from '../../auth/caller.ts';

export interface AdminContext {
  readonly logger: Logger;
  /** Returns who sent a request; undefined with authentication off. Faults: `unauthorized`, `forbidden`, `key_verification_unavailable`. */
  readonly authorize: (request: AuthorizedRequest, permission: Permission) => Identity | undefined;
  /** The header that carries gateway keys. */
  readonly keyHeader: string;
  /** Of the gateway. */
  readonly version: string;
  readonly rawRoutes: readonly RawRoute<Permission>[];
}

/** The parts of a request that authorization needs. */
interface AuthorizedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  readonly path: string;
  readonly correlationId: string;
  readonly telemetry: RequestTelemetry | undefined;
}

type AdminApp = (request: IncomingMessage, response: ServerResponse, telemetry?: RequestTelemetry) => void;

const ALLOWED_HEADERS = ['Authorization', 'X-API-Key', 'X-Svc-Gateway-Key'];

/** The admin API: the routes, their OpenAPI document, the probes and the scrape. Spec: G1.3, G1.8, G2.15 to G2.18, G21.2. */
export function createAdminApp(routes: readonly AdminRoute[], context: AdminContext): AdminApp {
  const { logger, authorize, keyHeader, version, rawRoutes } = context;
  const telemetryOf = new WeakMap<IncomingMessage, RequestTelemetry>();
  const isAllowed = ALLOWED_HEADERS.some((name) => name.toLowerCase() === keyHeader.toLowerCase());
  const app = createApiApp(routes, {
    logger,
    description: descriptionOf(version, keyHeader),
    faults: FAULT_STATUSES,
    allowedHeaders: isAllowed ? ALLOWED_HEADERS : [...ALLOWED_HEADERS, keyHeader],
    authorize: (request, permission, correlationId) => {
      const { headers, method, path } = request;
      return authorize({ headers, method, path, correlationId, telemetry: telemetryOf.get(request) }, permission);
    },
    rawRoutes,
  });
  return (request, response, telemetry) => {
    if (telemetry === undefined) return app(request, response);
    telemetryOf.set(request, telemetry);
    telemetry.endsWith(response);
    telemetry.run(() => app(request, response));
  };
}

function descriptionOf(version: string, keyHeader: string): ApiDescription {
  return {
    title: 'Vitrine AI traffic gateway, admin API',
    version,
    summary: 'Reads traces and analytics, and manages keys.',
    correlationHeader: CORRELATION_HEADER,
    security: {
      name: 'GatewayKey',
      header: keyHeader,
      description: 'A gateway key; needed when `auth.enabled` is true. It needs the permission that the operation names.',
    },
    statuses: {
      401: 'The gateway key is missing or not valid.',
      403: 'The gateway key does not have the permission.',
      501: 'The trace store does not support the operation.',
      503: 'The store, or the verification of keys, is not available.',
    },
  };
}

/** Every code has a heading in docs/failure-modes.md. A key of the configuration file is changed in that file; denials are logged as such, and
 *  failed key refreshes by the refresh. Spec: G15.1 to G15.6. */
export const FAULT_STATUSES: FaultStatuses = {
  statuses: {
    unauthorized: 401,
    forbidden: 403,
    origin_not_allowed: 403,
    key_verification_unavailable: 503,
    gateway_key_not_found: 404,
    gateway_key_exists: 409,
    gateway_key_token_exists: 409,
    gateway_key_managed: 409,
    gateway_keys_full: 409,
    gateway_keys_read_only: 501,
    key_store_unavailable: 503,
    pepper_mismatch: 503,
    pepper_unusable: 503,
    too_many_groups: 400,
    trace_not_found: 404,
    checkpoint_not_found: 404,
    foreign_checkpoint: 400,
    last_checkpoint: 400,
    trace_store_unavailable: 503,
  },
  expected: ['gateway_keys_read_only', 'key_verification_unavailable'],
  replaced: { pepper_unusable: 'the pepper of gateway keys cannot be used; see the log of the gateway' },
};

/** Authorizes requests of the admin API: denials are audited and thrown as faults. */
export function authorizeBy(authenticate: Authenticate, trail: Pick<AuditTrail, 'denied'>): AdminContext['authorize'] {
  return (request, permission) => {
    const decide = () => authenticate(request.headers, permission);
    const verdict = request.telemetry === undefined ? decide() : request.telemetry.authenticate(decide, request.correlationId);
    if (!('rejection' in verdict)) {
      // Without this check any page in a browser could change keys while authentication is off.
      if (verdict.identity === undefined && changesSomething(request) && isForeign(request.headers)) {
        trail.denied(request, verdict, 'forbidden');
        throw new Fault('origin_not_allowed', { say: 'origin not allowed' });
      }
      return verdict.identity;
    }
    trail.denied(request, verdict.caller, verdict.rejection.reason);
    throw faultOf(verdict.rejection);
  };
}

function changesSomething({ method }: { readonly method: string }): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method);
}

/** Whether the request comes from a page of another host. */
function isForeign({ origin, host }: IncomingHttpHeaders): boolean {
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase());
}

function faultOf({ reason, error: say }: RejectedCaller['rejection']): Fault {
  switch (reason) {
    case 'unauthorized':
      return new Fault('unauthorized', { say });
    case 'forbidden':
      return new Fault('forbidden', { say });
    case 'key_verification_unavailable':
      return new Fault('key_verification_unavailable', { say });
    default: {
      const unexpected: never = reason;
      return unexpected;
    }
  }
}
