import type { ConfigFault } from '@vitrine/config/read-config';
import type { DeepPartial } from '@vitrine/config/partial-value';
import { readPepperFile } from '@vitrine/credentials/pepper-file';
import { messageOf } from '@vitrine/faults/fault';
import { foreignFile, type OwnTables } from '@vitrine/sqlite/database-file';
import { probeFolder } from '@vitrine/sqlite/probe-folder';
import { KEY_DATABASE } from '@vitrine/gateway-keys/sqlite/key-tables';
import { TRACE_FILE } from '@vitrine/trace-store-sqlite/trace-tables';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { keyFiles } from '../../auth/keys/key-files.ts';
import { priceFaults } from '../../recording/price-settings.ts';
import type { GatewayConfig } from '../../config.ts';

/** Files of a store: its database, and those of SQLite and of its lock. */
const SUFFIXES = ['', '-wal', '-shm', '.lock'];

/** The checked parts of a configuration; an invalid part is missing. */
type Parts = DeepPartial<Pick<GatewayConfig, 'auth' | 'prices' | 'storage'>>;

/** Unusable files of a configuration, which itself may be valid: with any of them a gateway would not start. Opens no store, waits for
 *  no lock and leaves nothing behind. */
export function fileFaults(config: Parts): ConfigFault[] {
  return [...priceFaults(config.prices), ...storageFaults(config)];
}

function storageFaults({ auth, storage }: Parts): ConfigFault[] {
  const path = storage?.path;
  if (path === undefined || storage?.driver === 'postgres') return [];
  const keys = auth?.enabled === true && auth.store === 'database' ? keyProblems(path, auth.peppers?.length ?? 0) : [];
  const messages = [...new Set([...storageProblems(path, TRACE_FILE), ...keys])];
  return messages.map((message) => ({ path: 'storage.path', variable: 'SVC_STORAGE_PATH', message }));
}

/** Gateway keys are stored in the folder of the traces. Only a gateway with authentication opens them. */
function keyProblems(storagePath: string, configuredPeppers: number): string[] {
  const { database, pepper } = keyFiles(storagePath);
  const unusable = configuredPeppers > 0 ? undefined : problemOf('', () => readPepperFile(pepper));
  return [...storageProblems(database, KEY_DATABASE), unusable].filter((problem) => problem !== undefined);
}

/** The reasons why a process of this user could not write a store at a path, as `PATH: reason`. The lock of a running gateway is not a reason. */
export function storageProblems(path: string, own: OwnTables): string[] {
  const foreign = foreignFile(path, own);
  const folder = folderProblem(dirname(resolve(path)));
  const files = SUFFIXES.map((suffix) => fileProblem(`${path}${suffix}`));
  return [foreign === undefined ? files[0] : `${path}: ${foreign}`, folder, ...files.slice(1)].filter(
    (problem) => problem !== undefined,
  );
}

/** Checks whether files can be written in a folder, or in its nearest existing parent, by writing one there. */
export function folderProblem(folder: string): string | undefined {
  const nearest = nearestExisting(folder);
  const what = folder === nearest ? `no file can be written in ${folder}` : `the folder ${folder} cannot be created`;
  return problemOf(`${what}: `, () => {
    if (!statSync(nearest).isDirectory()) throw new Error(`${nearest} is not a folder`);
    probeFolder(nearest);
  });
}

/** Why an attempt fails, behind a prefix. */
export function problemOf(prefix: string, attempt: () => void): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return `${prefix}${messageOf(error)}`;
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}

function fileProblem(path: string): string | undefined {
  return problemOf(`${path} cannot be read and written: `, () => {
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  });
}
