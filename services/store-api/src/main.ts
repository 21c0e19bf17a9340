import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { versionCommand } from '@vitrine/command-line/version-command';
import { serve } from './commands/serve.ts';
import { VERSION } from './version.ts';

const program = {
  name: 'store-api',
  defaultCommand: serve.name,
  commands: [serve, versionCommand('store-api', VERSION, 'npm run store-api')],
};
await runCommandLine(process, program, ({ say }) => say);
