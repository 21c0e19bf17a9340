import { command } from '@vitrine/command-line/command';
import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { versionCommand } from '@vitrine/command-line/version-command';
import { locateConfigFile, readConfigFile } from '@vitrine/config/config-file';
import { createLogger } from '@vitrine/telemetry/logger';
import { startTraceWriter } from './app.ts';
import { readWriterConfig, WRITER_CONFIG_FILE } from './config.ts';
import { VERSION } from './version.ts';

const AFTER_BUG = 'report it with this line: it is a bug, and the process goes on';

const serve = command({
  name: 'serve',
  summary: 'Writes traces from Kafka to Postgres until it receives SIGINT or SIGTERM; the default command.',
  usage: '[--config FILE]',
  help: `Configuration is one YAML file (--config, else WRITER_CONFIG, else ./trace-writer.yaml when it is there), then environment
variables: WRITER_ and the key's path in capitals.

Example:
  WRITER_STORAGE_DSN=postgresql://writer:...@postgres/vitrine WRITER_QUEUE_BROKERS=kafka:9092 npm run trace-writer
`,
  options: {},
  run: async ({ values }, { env, stdout, handleUncaught, untilSignal }) => {
    const config = readWriterConfig(readConfigFile(locateConfigFile(values.config, env, WRITER_CONFIG_FILE).path), env);
    const logger = createLogger('svc-trace-writer', config.log.level, stdout);
    handleUncaught((error) => logger.error({ err: error, next_step: AFTER_BUG }, 'uncaught exception'));
    const signal = untilSignal();
    await using writer = await startTraceWriter(config, logger);
    logger.info({ url: writer.url, config }, 'trace-writer is listening');
    logger.info({ signal: await signal }, 'trace-writer is shutting down');
    return 0;
  },
});

const program = {
  name: 'trace-writer',
  defaultCommand: serve.name,
  commands: [serve, versionCommand('trace-writer', VERSION, 'npm run trace-writer')],
};
await runCommandLine(process, program, ({ say }) => say);
