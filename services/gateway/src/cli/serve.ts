import { createLogger } from '@vitrine/telemetry/logger';
import { startGateway } from '../start-gateway.ts';
import { command } from '@vitrine/command-line/command';
import { warnOfOldSettings } from '../config/old-settings.ts';
import { commandConfig, commandOldSettings } from './config/command-config.ts';

/** Runs the gateway. */
export const serve = command({
  name: 'serve',
  summary: 'Runs the gateway until it receives SIGINT or SIGTERM; the default command.',
  options: { config: { type: 'string', value: 'FILE' } },
  help: `Forwards /openai/* and /anthropic/* and records every exchange as a trace.

Configuration is one YAML file (--config, else SVC_CONFIG, else ./vitrine.yaml if it exists), then environment variables:
SVC_ and the key's path in capitals, such as SVC_SERVER_PORT=8080 or SVC_PROVIDERS_OPENAI_UPSTREAM=https://api.openai.com.`,
  examples: ['npm run gateway', 'npm run gateway -- --config deploy/gateway.yaml'],
  run: async ({ values }, context) => {
    const config = commandConfig(values.config, context);
    const logger = createLogger('svc-gateway', config.log.level, context.stdout);
    warnOfOldSettings(commandOldSettings(values.config, context), logger);
    // The start may wait for the database. As process 1 of a container the gateway would ignore signals during that time.
    const stopping = new AbortController();
    const signalled = context.untilSignal().finally(() => stopping.abort());
    await using gateway = await startGateway(config, logger, { signal: stopping.signal });
    context.handleUncaught((error) => logger.error({ err: error }, 'uncaught exception'));
    logger.info({ url: gateway.url, config }, 'gateway is listening');
    logger.info({ signal: await signalled }, 'gateway is shutting down');
    return 0;
  },
});
