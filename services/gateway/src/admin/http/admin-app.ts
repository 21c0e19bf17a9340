import type { Identity } from '@vitrine/gateway-keys/identity';
import type { Permission } from '@vitrine/gateway-keys/permission';
import { createApiApp, type RawRoute } from '@vitrine/http-api/api-app';
import type { ApiDescription } from '@vitrine/http-api/openapi/openapi-document';
import type { Logger } from '@vitrine/telemetry/logger';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { RequestTelemetry } from '../../telemetry/request-telemetry.ts';
import type { AdminRoute } from './admin-route.ts';
import { CORRELATION_HEADER } from '../../telemetry/correlation-id.ts';
import { FAULT_STATUSES } from './fault-statuses.ts';

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
    summary: 'Reads traces and what was made of them, and manages keys.',
    correlationHeader: CORRELATION_HEADER,
    security: {
      name: 'GatewayKey',
      header: keyHeader,
      description: 'A gateway key; needed when `auth.enabled` is true. It has to hold the permission that an operation names.',
    },
    statuses: {
      401: 'The gateway key is missing or not valid.',
      403: 'The gateway key does not have the permission.',
      501: 'This store cannot do it.',
      503: 'The store, or the verification of keys, is not available.',
    },
  };
}
