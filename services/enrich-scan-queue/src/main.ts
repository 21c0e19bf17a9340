import { command } from '@vitrine/command-line/command';
import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { versionCommand } from '@vitrine/command-line/version-command';
import { locateConfigFile, readConfigFile } from '@vitrine/config/config-file';
import { createLogger } from '@vitrine/telemetry/logger';
import { startScanner } from './app.ts';
import { rulesExplain, rulesList, rulesShow } from './commands/rules.ts';
import { readScanConfig, SCAN_CONFIG_FILE } from './config.ts';
import { VERSION } from './version.ts';

const AFTER_BUG = 'report it with this line: it is a bug, and the process goes on';

const serve = command({
  name: 'serve',
  summary: 'Scans the storefronts that are queued until it receives SIGINT or SIGTERM; the default command.',
  usage: '[--config FILE]',
  help: `Configuration is one YAML file (--config, else SCAN_CONFIG, else ./enrich-scan-queue.yaml when it is there), then environment
variables: SCAN_ and the key's path in capitals.

Example:
  SCAN_STORAGE_DSN=postgresql://scanner:...@postgres/vitrine SCAN_QUEUE_BROKERS=kafka:9092 npm run enrich-scan-queue
`,
  options: {},
  run: async ({ values }, { env, stdout, handleUncaught, untilSignal }) => {
    const config = readScanConfig(readConfigFile(locateConfigFile(values.config, env, SCAN_CONFIG_FILE).path), env);
    const logger = createLogger('svc-enrich-scan-queue', config.log.level, stdout);
    handleUncaught((error) => logger.error({ err: error, next_step: AFTER_BUG }, 'uncaught exception'));
    const signal = untilSignal();
    await using scanner = await startScanner(config, logger);
    logger.info({ url: scanner.url, config }, 'scanner listening');
    logger.info({ signal: await signal }, 'scanner shutting down');
    return 0;
  },
});

const program = {
  name: 'enrich-scan-queue',
  defaultCommand: serve.name,
  commands: [
    serve,
    rulesList,
    rulesShow,
    rulesExplain,
    versionCommand('enrich-scan-queue', VERSION, 'npm run enrich-scan-queue'),
  ],
};
await runCommandLine(process, program, ({ say }) => say);
