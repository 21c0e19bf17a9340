import { stringOption, type CommandContext } from '@vitrine/command-line/command';
import { FORMAT_OPTION } from '@vitrine/command-line/print-result';
import { locateConfigFile, readConfigFile } from '@vitrine/config/config-file';
import { codeOf, isFault, messageOf } from '@vitrine/faults/fault';
import { databaseErrorFields } from '@vitrine/postgres/database-error-fields';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { createLogger, type Logger } from '@vitrine/telemetry/logger';
import { readStoreApiConfig, STORE_API_CONFIG_FILE, type StoreApiConfig } from '../config.ts';

/** The last options of every command. */
export const OUTPUT_OPTIONS = { ...FORMAT_OPTION, config: stringOption('FILE', "the store API's configuration") };

export const WORKSPACE_OPTION = { ...stringOption('ID', 'the workspace, as workspace list shows it'), required: true } as const;

const APPLICATION = 'vitrine-store-api-command';
const CONNECTIONS = 5;
/** Summing a large ledger takes minutes. */
const STATEMENT_TIMEOUT_MS = 3_600_000;
const SQLSTATE_LENGTH = 5;

/** The resources of a command. */
interface StoresCommand {
  readonly config: StoreApiConfig;
  readonly pool: PostgresPool;
  /** Start of the command by the clock of the database, in milliseconds since the epoch. */
  readonly now: number;
  /** Writes to standard error, where changes of keys are audited. */
  readonly logger: Logger;
}

/** Runs `work` on the database of the configured store API, which may be running. Resolves to the exit code: that of `work`, or 0; 1 when the
 *  database fails, with the next step on standard error. Faults: those of the configuration. */
export async function withStores(
  configOption: string | undefined,
  { env, stderr }: CommandContext,
  work: (of: StoresCommand) => Promise<number | void>,
): Promise<number> {
  const config = readStoreApiConfig(readConfigFile(locateConfigFile(configOption, env, STORE_API_CONFIG_FILE).path), env);
  await using pool = new PostgresPool({
    dsn: config.storage.dsn,
    applicationName: APPLICATION,
    maxConnections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  const logger = createLogger('svc-store-api', 'info', stderr);
  try {
    const [row] = await pool.query<{ now: number }>('SELECT now() AS now');
    return (await work({ config, pool, logger, now: row?.now ?? 0 })) ?? 0;
  } catch (error) {
    const { error_class, next_step } = databaseErrorFields(error);
    if (isFault(error) || (error_class === 'unknown' && codeOf(error).length !== SQLSTATE_LENGTH)) throw error;
    stderr.write(`store-api: the database failed: ${messageOf(error)}\n${next_step}\n`);
    return 1;
  }
}

/** Options to append to a suggested command, so that it uses the same store API. */
export function configWords(configOption: string | undefined): string {
  return configOption === undefined ? '' : ` --config ${configOption}`;
}

/** `2026-01-31T10:00:00Z`. */
export function secondOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
