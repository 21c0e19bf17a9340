import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { chaosCommandLine } from './chaos-command.ts';

await runCommandLine(process, chaosCommandLine, ({ say }) => say);
