import { runCommandLine } from '@vitrine/command-line/run-command-line';
import { versionCommand } from '@vitrine/command-line/serve-command';
import { readVersion } from '@vitrine/config/read-version';
import { migrateCommandLine } from './migrate-command.ts';
import { topicsCommand } from './topics-command.ts';

const migrate = migrateCommandLine();
const version = readVersion(new URL('../package.json', import.meta.url));
const program = { ...migrate, commands: [...migrate.commands, topicsCommand, versionCommand(migrate.name, version)] };
await runCommandLine(process, program, ({ say }) => say);
