import { messageOf } from '@vitrine/faults/fault';
import { foreignFile, type OwnTables } from '@vitrine/sqlite/database-file';
import { probeFolder } from '@vitrine/sqlite/probe-folder';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Files of a store: its database, and those of SQLite and of its lock. */
const SUFFIXES = ['', '-wal', '-shm', '.lock'];

/** The reasons why a process of this user could not write a store at a path, as `PATH: reason`. A lock of a running gateway is none. */
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
  try {
    if (!statSync(nearest).isDirectory()) return `${what}: ${nearest} is not a folder`;
    probeFolder(nearest);
    return undefined;
  } catch (error) {
    return `${what}: ${messageOf(error)}`;
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}

function fileProblem(path: string): string | undefined {
  try {
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    return `${path} cannot be read and written: ${messageOf(error)}`;
  }
}
