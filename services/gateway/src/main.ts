import { readConfigFile } from '@vitrine/config/config-file';
import { Fault } from '@vitrine/faults/fault';
import { runProgram, surviveBugs } from '@vitrine/lifecycle/run-program';
import { untilSignal } from '@vitrine/lifecycle/until-signal';
import { createLogger } from '@vitrine/telemetry/logger';
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
  const config = readGatewayConfig(
    readConfigFile(values.config ?? (process.env['SVC_CONFIG'] || undefined), 'vitrine.yaml'),
    process.env,
  );
  const logger = createLogger('svc-gateway', config.log.level, process.stdout);
  await using gateway = await startGateway(config, logger);
  surviveBugs(process, (error) => logger.error({ err: error }, 'a bug was survived'));
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
    throw new Fault('unknown_command', { say: `unknown command: ${parsed.positionals.join(' ')}` });
  return parsed;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

await runProgram(process, {
  name: 'gateway',
  help: HELP,
  sentenceOf: ({ code, say }) => (code.startsWith('storage_') ? `storage.path (SVC_STORAGE_PATH): ${say}` : say),
  main,
});
