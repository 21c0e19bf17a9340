import { createLogger } from '@vitrine/telemetry/logger';
import { startGateway } from '../app.ts';
import { command } from './command.ts';
import { warnOfOldSettings } from '../old-gateway/old-settings.ts';
import { commandConfig, commandOldSettings } from './command-config.ts';

export const serve = command({
  name: 'serve',
  summary: 'Serves the gateway until it is told to stop; the command when none is given.',
  usage: '[--config FILE]',
  help: `Forwards /openai/* and /anthropic/* and records every exchange as a trace.

Configuration is one YAML file (--config, else SVC_CONFIG, else ./vitrine.yaml when it is there), then environment variables:
SVC_ and the key's path in capitals, such as SVC_SERVER_PORT=8080 or SVC_PROVIDERS_OPENAI_UPSTREAM=https://api.openai.com.

Examples:
  npm run gateway
  npm run gateway -- --config deploy/gateway.yaml
`,
  options: {},
  words: 0,
  run: async ({ values }, context) => {
    const config = commandConfig(values.config, context);
    const logger = createLogger('svc-gateway', config.log.level, context.stdout);
    warnOfOldSettings(commandOldSettings(values.config, context), logger);
    await using gateway = await startGateway(config, logger);
    context.surviveBugs((error) => logger.error({ err: error }, 'uncaught exception'));
    logger.info({ url: gateway.url, config }, 'gateway is listening');
    const signal = await context.untilStopped();
    logger.info({ signal }, 'gateway is shutting down');
    return 0;
  },
});
