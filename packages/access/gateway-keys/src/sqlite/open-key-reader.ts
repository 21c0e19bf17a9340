import { foreignFile, newerText } from '@vitrine/sqlite/database-file';
import { DatabaseSync } from 'node:sqlite';
import { keyStoreUnavailable, type KeyReader } from '../key-store.ts';
import { listAuditEvents } from './audit-rows.ts';
import { listKeyRows, readStoredPeppers } from './key-row.ts';
import { KEY_DATABASE, KEY_SCHEMA_VERSION } from './key-tables.ts';

const BUSY_TIMEOUT_MS = 2_000;

/** Reads keys and audit events over a read-only connection, while other processes may write. It does not migrate the file: the
 *  gateway that writes it may be of an earlier version, and what that version lacks reads as undefined. Faults: `key_store_unavailable`, also
 *  when the file has no keys or was written by a newer version. */
export function openKeyReader(path: string): KeyReader & Disposable {
  const call = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      throw keyStoreUnavailable(path, cause);
    }
  };
  const database = call(() => openReadOnly(path));
  return {
    list: async (tenant) => call(() => listKeyRows(database, tenant)),
    storedPeppers: async () => call(() => readStoredPeppers(database)),
    listAudit: async (query) => call(() => listAuditEvents(database, query)),
    [Symbol.dispose]: () => database.close(),
  };
}

function openReadOnly(path: string): DatabaseSync {
  const foreign = foreignFile(path, KEY_DATABASE);
  if (foreign !== undefined) throw new Error(foreign);
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    if (found < 1) throw new Error('the file contains no gateway keys');
    if (found > KEY_SCHEMA_VERSION) throw new Error(newerText(found, KEY_DATABASE));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
