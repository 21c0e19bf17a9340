import { Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { DatabaseSync } from 'node:sqlite';
import { keepDatabasePrivate, makePrivateFile } from './private-file.ts';

/** Takes a lock on a store's file that the system itself gives back, however the process ends: an open transaction on an empty
 *  SQLite file beside it. There is no lock file to remove by hand after a crash.
 *  Faults: `storage_locked`, `storage_unusable`. */
export function lockFile(path: string): Disposable {
  try {
    const lock = `${path}.lock`;
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
