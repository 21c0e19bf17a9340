import { runProgram } from '@vitrine/command-line/run-command-line';
import { readConfig } from '@vitrine/config/read-config';
import { createApiApp } from '@vitrine/http-api/api-app';
import { oneOf } from '@vitrine/http-api/requests/query-shapes';
import { probeRoutes, Readiness } from '@vitrine/http-api/probe-routes';
import { publicScrape } from '@vitrine/http-api/serve-scrape';
import { operationOf } from '@vitrine/http-api/route';
import { serveApi } from '@vitrine/http-api/server/api-server';
import { serviceRoutes } from '@vitrine/http-api/service-routes';
import { handleUncaught } from '@vitrine/lifecycle/handle-uncaught';
import { untilSignal } from '@vitrine/lifecycle/until-signal';
import { otelConfig, otelVariables } from '@vitrine/telemetry/config/otel-config';
import { createLogger } from '@vitrine/telemetry/logger';
import { startTelemetry } from '@vitrine/telemetry/start-telemetry';
import { z } from 'zod';

// A service in sixty lines. The packages provide configuration, logs, telemetry, health, OpenAPI and shutdown.
const [name, prefix, version, correlationHeader] = ['hello', 'HELLO_', '0.1.0', 'X-Correlation-ID'];
const config = z.strictObject({
  server: z.strictObject({ host: z.string().default('127.0.0.1'), port: z.int().default(8083) }).prefault({}),
  observability: z.strictObject({ otel: otelConfig({ serviceName: name, reservedPaths: ['/api'] }).prefault({}) }).prefault({}),
});
const greetings = {
  path: '/api/greetings/:name',
  params: z.object({ name: z.string().describe('Who is greeted.') }),
  GET: operationOf()({
    summary: 'Greets.',
    permission: 'public',
    query: z.strictObject({ word: oneOf(['hello', 'goodbye']).describe('hello when absent.') }),
    status: 200,
    response: z.strictObject({ text: z.string() }).meta({ id: 'Greeting' }),
    errors: [],
    handle: ({ query: { word = 'hello' }, params }) => ({ text: `${word}, ${params['name']}` }),
  }),
};
const service = serviceRoutes({ name, version, uptimeSec: () => Math.floor(process.uptime()) });

async function main(): Promise<number> {
  const [signal, readiness] = [untilSignal(process, ['SIGINT', 'SIGTERM']), new Readiness({})];
  const { server, observability } = readConfig(config, { env: process.env, prefix, named: otelVariables(prefix) });
  const logger = createLogger(name, 'info', process.stdout);
  handleUncaught(process, (err) => logger.error({ err }, 'uncaught exception'));
  const onExportError = (reason: string) => logger.warn({ reason }, 'telemetry export failed');
  using telemetry = await startTelemetry({ config: observability.otel, version, scope: name, metricPrefix: name, onExportError });
  const app = createApiApp([...service, greetings], {
    logger,
    description: { title: 'Hello', version, summary: 'Greets.', correlationHeader },
    authorize: () => undefined,
    rawRoutes: [...probeRoutes({ readiness }), ...publicScrape(telemetry?.scrape, observability.otel.prometheus_path)],
  });
  const keys = { hostKey: 'server.host (HELLO_SERVER_HOST)', portKey: 'server.port (HELLO_SERVER_PORT)' };
  await using api = await serveApi(app, { ...server, ...keys, maxConnections: 1_000, correlationHeader, logger });
  logger.info({ url: api.url, server, observability }, 'service is listening');
  logger.info({ signal: await signal }, 'service is shutting down');
  readiness.shutDown();
  return 0;
}

await runProgram(process, { name, help: 'usage: HELLO_SERVER_PORT=8083 node docs/hello-service/src/main.ts\n', main });
