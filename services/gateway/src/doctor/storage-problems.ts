import { messageOf } from '@vitrine/faults/fault';
import { foreignFile, type OwnTables } from '@vitrine/sqlite/database-file';
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** What SQLite and the lock of a store keep beside its file. */
const BESIDE = ['', '-wal', '-shm', '.lock'];

/** Why a process of this user could not keep a store at a path: every reason, as `PATH: what is wrong`. What is locked by a running
 *  gateway is well. */
export function storageProblems(path: string, own: OwnTables): string[] {
  const foreign = foreignFile(path, own);
  const folder = folderFlaw(dirname(resolve(path)));
  const files = BESIDE.map((suffix) => fileFlaw(`${path}${suffix}`));
  return [foreign === undefined ? files[0] : `${path}: ${foreign}`, folder, ...files.slice(1)].filter(
    (flaw) => flaw !== undefined,
  );
}

/** Whether files can be made in a folder, or in the nearest one above it that is there. Permissions do not tell: root has them all,
 *  and a full or a special file system takes nothing all the same. So a folder is made there, and is gone again at once. */
function folderFlaw(folder: string): string | undefined {
  const nearest = nearestOf(folder);
  const what = folder === nearest ? `no file can be made in ${folder}` : `the folder ${folder} cannot be made`;
  try {
    if (!statSync(nearest).isDirectory()) return `${what}: ${nearest} is not a folder`;
    rmdirSync(mkdtempSync(join(nearest, '.vitrine-check-')));
    return undefined;
  } catch (error) {
    return `${what}: ${messageOf(error)}`;
  }
}

function nearestOf(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestOf(dirname(path));
}

function fileFlaw(path: string): string | undefined {
  try {
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    return `${path} cannot be read and written: ${messageOf(error)}`;
  }
}
