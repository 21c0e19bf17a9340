import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { demoCommandLine } from './demo-command.ts';

await runCommandLine(process, demoCommandLine(), ({ say }) => say);
