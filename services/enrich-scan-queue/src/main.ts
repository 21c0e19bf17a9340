import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { serveCommand, versionCommand } from '@vitrine/command-line/serve-command';
import { startScanner } from './app.ts';
import { rulesExplain, rulesList, rulesShow } from './commands/rules.ts';
import { readScanConfig, SCAN_CONFIG_FILE, VERSION } from './config.ts';

const serve = serveCommand({
  title: 'scanner',
  service: 'svc-enrich-scan-queue',
  summary: 'Scans the storefronts that are queued until it receives SIGINT or SIGTERM; the default command.',
  example: 'SCAN_STORAGE_DSN=postgresql://scanner:...@postgres/vitrine SCAN_QUEUE_BROKERS=kafka:9092 npm run enrich-scan-queue',
  configFile: SCAN_CONFIG_FILE,
  readConfig: readScanConfig,
  start: startScanner,
});

const program = {
  name: 'enrich-scan-queue',
  defaultCommand: serve.name,
  commands: [serve, rulesList, rulesShow, rulesExplain, versionCommand('enrich-scan-queue', VERSION)],
};
await runCommandLine(process, program, ({ say }) => say);
