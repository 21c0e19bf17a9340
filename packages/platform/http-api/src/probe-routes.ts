import type { ServerResponse } from 'node:http';
import { type RawRoute, createApiApp } from './api-app.ts';
import type { Logger } from '@vitrine/telemetry/logger';
import type { z } from 'zod';
import { publicScrape } from './serve-scrape.ts';
import { serveApi, type ApiServer } from './server/api-server.ts';
import { serviceRoutes, type ServiceState } from './service-routes.ts';

/** Why a process should get no requests now. Every condition is local to the process. A readiness check that called another server would make all
 *  replicas unready at once when that server is unavailable. */
export class Readiness<Condition extends string = never> {
  readonly #conditions: Readonly<Record<Condition, () => boolean>>;
  #isShuttingDown = false;

  /** `conditions`: the process is not ready while any of them is true. */
  constructor(conditions: Readonly<Record<Condition, () => boolean>>) {
    this.#conditions = conditions;
  }

  /** The active conditions; none when the process is ready. */
  get reasons(): readonly (Condition | 'shutting_down')[] {
    const names = Object.keys(this.#conditions) as Condition[];
    const holding = names.filter((name) => this.#conditions[name]());
    return this.#isShuttingDown ? [...holding, 'shutting_down'] : holding;
  }

  /** From now on the process is not ready. */
  shutDown(): void {
    this.#isShuttingDown = true;
  }
}

export interface Probes {
  readonly readiness: Pick<Readiness<string>, 'reasons'>;
  /** Why the process should be restarted; empty while it makes progress. */
  readonly stalledBy?: () => readonly string[];
}

/** The probes of a load balancer or the kubelet, which every service serves at the same paths: `/livez` fails when the process makes no progress,
 *  `/readyz` when it should get no requests. Both respond from memory. */
export function probeRoutes({ readiness, stalledBy = () => [] }: Probes): RawRoute[] {
  return [
    { path: '/livez', permission: 'public', respond: async (_, response) => respond(response, 'live', stalledBy()) },
    { path: '/readyz', permission: 'public', respond: async (_, response) => respond(response, 'ready', readiness.reasons) },
  ];
}

function respond(response: ServerResponse, status: 'live' | 'ready', reasons: readonly string[]): void {
  const body = JSON.stringify(reasons.length === 0 ? { status } : { status: `not_${status}`, reasons });
  response.writeHead(reasons.length === 0 ? 200 : 503, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  // Node sends no body in response to HEAD.
  response.end(body);
}

const CORRELATION_HEADER = 'X-Svc-Correlation-ID';
const MAX_CONNECTIONS = 256;

interface HealthServerOptions {
  readonly title: string;
  readonly summary: string;
  /** Of the service's variables, such as `WRITER_`. */
  readonly prefix: string;
  readonly server: { readonly host: string; readonly port: number };
  readonly probes: Probes;
  readonly scrape: Parameters<typeof publicScrape>[0];
  readonly scrapePath: string;
  readonly logger: Logger;
}

/** Serves what a service without an API of its own has: health, probes and metrics, without a key. Faults: `address_unusable`. */
export function serveHealth<Reason extends string, Details extends z.ZodRawShape>(
  service: ServiceState<Reason, Details>,
  { title, summary, prefix, server, probes, scrape, scrapePath, logger }: HealthServerOptions,
): Promise<ApiServer> {
  const startedAt = performance.now();
  const uptimeSec = () => Math.floor((performance.now() - startedAt) / 1_000);
  const app = createApiApp(serviceRoutes({ ...service, uptimeSec }), {
    logger,
    description: { title, version: service.version, summary, correlationHeader: CORRELATION_HEADER },
    authorize: () => undefined,
    rawRoutes: [...probeRoutes(probes), ...publicScrape(scrape, scrapePath)],
  });
  const keys = { hostKey: `server.host (${prefix}SERVER_HOST)`, portKey: `server.port (${prefix}SERVER_PORT)` };
  return serveApi(app, { ...server, ...keys, maxConnections: MAX_CONNECTIONS, correlationHeader: CORRELATION_HEADER, logger });
}
