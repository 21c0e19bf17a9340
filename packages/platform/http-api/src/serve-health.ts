import type { Logger } from '@vitrine/telemetry/logger';
import type { z } from 'zod';
import { createApiApp } from './api-app.ts';
import { probeRoutes, type Probes } from './probe-routes.ts';
import { publicScrape, type ReadScrape } from './serve-scrape.ts';
import { serveApi, type ApiServer } from './server/api-server.ts';
import { serviceRoutes, type ServiceState } from './service-routes.ts';

const CORRELATION_HEADER = 'X-Svc-Correlation-ID';
const MAX_CONNECTIONS = 256;

interface HealthServerOptions {
  readonly title: string;
  readonly summary: string;
  /** Of the service's variables, such as `WRITER_`. */
  readonly prefix: string;
  readonly server: { readonly host: string; readonly port: number };
  readonly probes: Probes;
  readonly scrape: ReadScrape | undefined;
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
