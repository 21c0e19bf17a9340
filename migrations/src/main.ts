import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { migrateCommandLine } from './migrate-command.ts';

await runCommandLine(process, migrateCommandLine(), ({ say }) => say);
