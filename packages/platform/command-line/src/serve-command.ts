import { locateConfigFile, readConfigFile } from '@vitrine/config/config-file';
import type { ConfigSource } from '@vitrine/config/read-config';
import { createLogger, type Logger } from '@vitrine/telemetry/logger';
import { command, type Command } from './command.ts';

const AFTER_BUG = 'report it with this line: it is a bug, and the process continues';

interface ServiceCommand<C extends { readonly log: { readonly level: string } }> {
  /** The name of the service in its log messages. */
  readonly title: string;
  /** Name in its log lines. */
  readonly service: string;
  readonly summary: string;
  readonly example: string;
  /** The variable is the prefix of all variables and `CONFIG`. */
  readonly configFile: Parameters<typeof locateConfigFile>[2];
  readonly readConfig: (yaml: ConfigSource['yaml'], env: ConfigSource['env']) => C;
  readonly start: (config: C, logger: Logger) => Promise<AsyncDisposable & { readonly url: string }>;
}

/** The command `serve` of a service: starts it, and disposes it after SIGINT or SIGTERM. */
export function serveCommand<C extends { readonly log: { readonly level: string } }>(of: ServiceCommand<C>): Command {
  const { title, service, summary, example, configFile, readConfig, start } = of;
  const { variable, defaultFile } = configFile;
  return command({
    name: 'serve',
    summary,
    options: { config: { type: 'string', value: 'FILE' } },
    help: `Configuration is one YAML file (--config, else ${variable}, else ./${defaultFile} when it is there), then environment
variables: ${variable.replace(/CONFIG$/, '')} and the key's path in capitals.`,
    examples: [example],
    run: async ({ values }, { env, stdout, handleUncaught, untilSignal }) => {
      const config = readConfig(readConfigFile(locateConfigFile(values.config, env, configFile).path), env);
      const logger = createLogger(service, config.log.level, stdout);
      handleUncaught((error) => logger.error({ err: error, next_step: AFTER_BUG }, 'uncaught exception'));
      const signal = untilSignal();
      await using running = await start(config, logger);
      logger.info({ url: running.url, config }, `${title} is listening`);
      logger.info({ signal: await signal }, `${title} is shutting down`);
      return 0;
    },
  });
}
