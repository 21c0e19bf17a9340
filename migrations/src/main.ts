import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { versionCommand } from '@vitrine/command-line/version-command';
import { migrateCommandLine } from './migrate-command.ts';
import { topicsCommand } from './topics-command.ts';
import { VERSION } from './version.ts';

const migrate = migrateCommandLine();
const program = { ...migrate, commands: [...migrate.commands, topicsCommand, versionCommand(migrate.name, VERSION)] };
await runCommandLine(process, program, ({ say }) => say);
