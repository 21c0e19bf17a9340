import { Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { existsSync, realpathSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { keepDatabasePrivate, makePrivateFile } from './private-file.ts';

/** Locks a store's file by an open transaction on an empty SQLite file beside it. The system releases it when the process ends in any way, so no
 *  lock file has to be removed after a crash. Faults: `storage_locked`, `storage_unusable`. */
export function lockFile(path: string): Disposable {
  try {
    // One lock for a file, whatever links lead to it.
    const lock = `${existsSync(path) ? realpathSync(path) : path}.lock`;
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
