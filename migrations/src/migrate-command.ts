import {
  command,
  stringOption,
  switchOption,
  type CommandContext,
  type CommandLine,
  usageError,
} from '@vitrine/command-line/command';
import { textTable } from '@vitrine/command-line/print-result';
import { wholeNumberOption } from '@vitrine/command-line/option-values';
import { Secret } from '@vitrine/config/secret';
import { messageOf } from '@vitrine/faults/fault';
import { listMigrations, migrate, type Migration } from '@vitrine/postgres/migrate';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { waitForDatabase, type WaitFields } from '@vitrine/postgres/wait-for-database';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describeSchema } from './describe-schema.ts';
import { schemaDifferences } from './schema-differences.ts';

const FOLDER = fileURLToPath(new URL('../sql', import.meta.url));
const EXPECTED_SCHEMA = new URL('../schema.sql', import.meta.url);
const DSN_VARIABLE = 'VITRINE_POSTGRES_DSN';
const DEFAULT_WAIT_SECONDS = 60;

/** `npm run migrate`, and what the migration container runs. `folder`: of the `.sql` files. */
export const migrateCommandLine = (folder: string = FOLDER): CommandLine => ({
  name: 'migrate',
  defaultCommand: 'up',
  commands: [
    command({
      name: 'up',
      summary: 'Brings the tables of a Postgres database up to date, or reports what is missing.',
      options: {
        check:
          switchOption(`changes nothing; exits with 1 when migrations are missing, or when tables, functions, roles or rights are not what the
migrations make, such as after a restore, and names each difference`),
        dsn: stringOption('DSN', `the database; better in ${DSN_VARIABLE}, because other users can see arguments`),
        wait: stringOption('SECONDS', `seconds to wait for a database that does not respond; ${DEFAULT_WAIT_SECONDS} by default`),
      },
      help: 'Started several times at once, it runs each migration once. The user needs the right to create roles and tables.',
      examples: [`${DSN_VARIABLE}=postgresql://vitrine@localhost/vitrine npm run migrate`, 'npm run migrate -- --check'],
      run: async ({ values }, context) => {
        const source = { dsn: dsnOf(values.dsn, context), folder };
        const waitSeconds = wholeNumberOption('--wait SECONDS', values.wait, 0, 86_400) ?? DEFAULT_WAIT_SECONDS;
        await untilReachable(source.dsn, waitSeconds, context);
        const ran = values.check === true ? [] : await migrate(source);
        const migrations = await listMigrations(source);
        context.stdout.write(tableOf(migrations, ran));
        const isComplete = migrations.every(({ ranAt }) => ranAt !== undefined);
        const differences = values.check === true && isComplete ? await differencesOf(source.dsn) : [];
        context.stdout.write(differences.map((difference) => `${difference}\n`).join(''));
        return isComplete && differences.length === 0 ? 0 : 1;
      },
    }),
  ],
});

async function differencesOf(dsn: Secret): Promise<string[]> {
  await using pool = new PostgresPool({ dsn, applicationName: 'vitrine-migrate', maxConnections: 1 });
  return schemaDifferences(readFileSync(EXPECTED_SCHEMA, 'utf8'), await describeSchema(pool));
}

function dsnOf(option: string | undefined, { env }: CommandContext): Secret {
  const dsn = option ?? env[DSN_VARIABLE] ?? '';
  if (dsn === '') throw usageError(`no database: set ${DSN_VARIABLE}, or pass --dsn`);
  return new Secret(dsn);
}

/** After the wait it goes on anyway, so that the error of the connection is what the user gets. */
async function untilReachable(dsn: Secret, seconds: number, { stderr, untilSignal }: CommandContext): Promise<void> {
  await using pool = new PostgresPool({ dsn, applicationName: 'vitrine-migrate', maxConnections: 1 });
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), seconds * 1_000);
  void untilSignal().then(() => stop.abort());
  const log = ({ host, port, err, next_step }: WaitFields, message: string) => {
    const why = err === undefined ? '' : `: ${messageOf(err)}; ${next_step}`;
    stderr.write(`migrate: ${message} (${host}:${port})${why}\n`);
  };
  try {
    await waitForDatabase(pool, { logger: { info: log, warn: log }, signal: stop.signal });
  } finally {
    clearTimeout(timer);
  }
}

function tableOf(migrations: readonly Migration[], ran: readonly string[]): string {
  const stateOf = ({ name, ranAt }: Migration) =>
    ranAt === undefined ? 'missing' : ran.includes(name) ? 'ran now' : 'ran before';
  return textTable(
    ['MIGRATION', 'STATE', 'TIME'],
    migrations.map((one) => [one.name, stateOf(one), one.ranAt === undefined ? '-' : new Date(one.ranAt).toISOString()]),
  );
}
