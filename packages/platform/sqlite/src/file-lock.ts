import { Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { keepDatabasePrivate, makePrivateFile } from './private-file.ts';

/** Locks a store's file by an open transaction on an empty SQLite file beside it. The system releases it when the process ends in any way, so no
 *  lock file has to be removed after a crash. Faults: `storage_locked`, `storage_unusable`. */
export function lockFile(path: string): Disposable {
  try {
    // One lock for a file, whatever symbolic links lead to it.
    const lock = `${targetOf(path)}.lock`;
    makePrivateFile(lock);
    const database = new DatabaseSync(lock);
    try {
      database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
      keepDatabasePrivate(lock);
    } catch (cause) {
      database.close();
      throw new Fault('storage_locked', { say: `${path} is in use by another process`, cause });
    }
    return { [Symbol.dispose]: () => database.close() };
  } catch (error) {
    if (isFault(error)) throw error;
    throw new Fault('storage_unusable', { say: `${path} cannot be opened: ${messageOf(error)}`, cause: error });
  }
}

/** Where a path leads, also before its file exists. */
function targetOf(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const target = isLink ? resolve(dirname(path), readlinkSync(path)) : path;
  return existsSync(dirname(target)) ? join(realpathSync(dirname(target)), basename(target)) : target;
}
