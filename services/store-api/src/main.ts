import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { STORE_API_COMMAND_LINE } from './commands/registry.ts';

await runCommandLine(process, STORE_API_COMMAND_LINE, ({ say }) => say);
