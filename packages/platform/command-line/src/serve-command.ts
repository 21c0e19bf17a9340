import { locateConfigFile, readConfigFile } from '@vitrine/config/config-file';
import type { ConfigSource } from '@vitrine/config/read-config';
import { createLogger, type Logger } from '@vitrine/telemetry/logger';
import { command, type Command, stringOption } from './command.ts';
import { FORMAT_OPTION, formatResult } from './print-result.ts';

const AFTER_BUG = 'report it with this line: it is a bug, and the process continues';

interface RunningService extends AsyncDisposable {
  readonly url: string;
  /** Resolves with what to log when the service must end. The exit code is then 1. */
  readonly lost?: Promise<{ readonly message: string; readonly next_step: string }>;
}

interface ServiceCommand<C extends { readonly log: { readonly level: string } }> {
  /** The name of the service in its log messages. */
  readonly title: string;
  /** Name in its log lines. */
  readonly service: string;
  readonly summary: string;
  /** The help below that of the configuration. */
  readonly help?: string;
  readonly example: string;
  /** The variable is the prefix of all variables and `CONFIG`. */
  readonly configFile: Parameters<typeof locateConfigFile>[2];
  readonly readConfig: (yaml: ConfigSource['yaml'], env: ConfigSource['env']) => C;
  readonly start: (config: C, logger: Logger) => Promise<RunningService>;
}

/** The command `serve` of a service: starts it, and disposes it after SIGINT or SIGTERM, or when it is lost. */
export function serveCommand<C extends { readonly log: { readonly level: string } }>(of: ServiceCommand<C>): Command {
  const { title, service, summary, help, example, configFile, readConfig, start } = of;
  const { variable, defaultFile } = configFile;
  return command({
    name: 'serve',
    summary,
    options: { config: { type: 'string', value: 'FILE' } },
    help: `Configuration is one YAML file (--config, else ${variable}, else ./${defaultFile} if it exists), then environment
variables: ${variable.replace(/CONFIG$/, '')} and the key's path in capitals.${help === undefined ? '' : ` ${help}`}`,
    examples: [example],
    run: async ({ values }, { env, stdout, handleUncaught, untilSignal }) => {
      const config = readConfig(readConfigFile(locateConfigFile(values.config, env, configFile).path), env);
      const logger = createLogger(service, config.log.level, stdout);
      handleUncaught((error) => logger.error({ err: error, next_step: AFTER_BUG }, 'uncaught exception'));
      const signal = untilSignal();
      await using running = await start(config, logger);
      logger.info({ url: running.url, config }, `${title} is listening`);
      const ended = await Promise.race([signal, running.lost ?? signal]);
      if (typeof ended === 'string') logger.info({ signal: ended }, `${title} is shutting down`);
      else logger.error({ next_step: ended.next_step }, ended.message);
      return typeof ended === 'string' ? 0 : 1;
    },
  });
}

/** The command `version` of a program, which `--version` runs too. `script`: what starts the program from the checkout. */
export function versionCommand(program: string, version: string, script = `npm run ${program}`): Command {
  return command({
    name: 'version',
    summary: `Prints the version; so does ${program} --version.`,
    options: { ...FORMAT_OPTION, config: stringOption('FILE', 'accepted and ignored') },
    examples: [`${script} -- version`, `${script} -s -- version --format json`],
    run: async ({ values }, { stdout }) => {
      stdout.write(formatResult(values.format, { version }, () => `${version}\n`));
      return 0;
    },
  });
}
