import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { serveCommand, versionCommand } from '@vitrine/command-line/serve-command';
import { startTraceWriter } from './app.ts';
import { readWriterConfig, WRITER_CONFIG_FILE, VERSION } from './config.ts';

const serve = serveCommand({
  title: 'trace-writer',
  service: 'svc-trace-writer',
  summary: 'Writes traces from Kafka to Postgres until it receives SIGINT or SIGTERM; the default command.',
  example: 'WRITER_STORAGE_DSN=postgresql://writer:...@postgres/vitrine WRITER_QUEUE_BROKERS=kafka:9092 npm run trace-writer',
  configFile: WRITER_CONFIG_FILE,
  readConfig: readWriterConfig,
  start: startTraceWriter,
});

const program = {
  name: 'trace-writer',
  defaultCommand: serve.name,
  commands: [serve, versionCommand('trace-writer', VERSION)],
};
await runCommandLine(process, program, ({ say }) => say);
