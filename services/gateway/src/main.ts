import { isFault, type Fault } from '@vitrine/faults/fault';
import { untilSignal } from '@vitrine/lifecycle/until-signal';
import { createLogger } from '@vitrine/telemetry/logger';
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startGateway } from './app.ts';
import { readGatewayConfig } from './config.ts';
import { VERSION } from './version.ts';

const HELP = `usage: gateway [serve] [--config FILE]
       gateway version

Serves the AI traffic gateway: forwards /openai/* and /anthropic/* and records every exchange as a trace.

Configuration is one YAML file (--config, else SVC_CONFIG, else ./vitrine.yaml when it is there), then environment variables:
SVC_ and the key's path in capitals, such as SVC_SERVER_PORT=8080 or SVC_PROVIDERS_OPENAI_UPSTREAM=https://api.openai.com.

Examples:
  npm run gateway
  npm run gateway -- --config deploy/gateway.yaml
`;

async function main(): Promise<number> {
  const { values, positionals } = readArguments();
  if (values.help) return print(HELP);
  if (positionals[0] === 'version') return print(`${VERSION}\n`);
  const config = readGatewayConfig(readYaml(values.config), process.env);
  const logger = createLogger('svc-gateway', config.log.level, process.stdout);
  await using gateway = await startGateway(config, logger);
  logger.info({ url: gateway.url, config }, 'gateway is listening');
  const signal = await untilSignal(process, ['SIGINT', 'SIGTERM']);
  logger.info({ signal }, 'gateway is shutting down');
  return 0;
}

function readArguments() {
  const parsed = parseArgs({
    options: { config: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
    allowPositionals: true,
  });
  const command = parsed.positionals[0] ?? 'serve';
  if (!['serve', 'version'].includes(command) || parsed.positionals.length > 1)
    throw new TypeError(`unknown command: ${parsed.positionals.join(' ')}`);
  return parsed;
}

function readYaml(named: string | undefined): { path: string; text: string } | undefined {
  const path = named ?? (process.env['SVC_CONFIG'] || undefined) ?? (existsSync('vitrine.yaml') ? 'vitrine.yaml' : undefined);
  return path === undefined ? undefined : { path, text: readFileSync(path, 'utf8') };
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function sentenceOf({ code, say }: Fault): string {
  return code.startsWith('storage_') ? `storage.path (SVC_STORAGE_PATH): ${say}` : say;
}

try {
  process.exitCode = await main();
} catch (error) {
  const isUsage = error instanceof TypeError;
  process.stderr.write(
    isFault(error)
      ? `gateway: ${sentenceOf(error)}\n`
      : isUsage
        ? `gateway: ${error.message}\n\n${HELP}`
        : `gateway: ${String(error)}\n`,
  );
  process.exitCode = isUsage ? 2 : 1;
}
