import type { StoredPeppers } from '@vitrine/credentials/pepper-problem';
import { foreignFile, newerText } from '@vitrine/sqlite/database-file';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { DatabaseSync } from 'node:sqlite';
import type { AuditEventPage, AuditQuery } from '../audit-event-page.ts';
import type { KeyRow } from '../gateway-key.ts';
import type { KeyReader } from '../key-store.ts';
import { listAuditEvents } from './audit-rows.ts';
import { listKeyRows } from './key-row.ts';
import { keyStoreUnavailable } from '../key-store-fault.ts';
import { KEY_DATABASE, KEY_SCHEMA_VERSION } from './key-tables.ts';
import { readStoredPeppers } from './pepper-rows.ts';

const BUSY_TIMEOUT_MS = 2_000;

/** Reads keys and audit events over a read-only connection, while other processes may write. It does not migrate the file: earlier
 *  versions have the same columns, and the gateway that writes it may be of an earlier version. */
export class SqliteKeyReader implements KeyReader, Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync;

  /** Faults: `key_store_unavailable`, also when the file holds no keys or those of a newer version. */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#database = openReadOnly(path);
    } catch (cause) {
      throw keyStoreUnavailable(path, cause);
    }
  }

  list(tenant: Tenant | undefined): Promise<KeyRow[]> {
    return this.#read((database) => listKeyRows(database, tenant));
  }

  storedPeppers(): Promise<StoredPeppers> {
    return this.#read(readStoredPeppers);
  }

  listAudit(query: AuditQuery): Promise<AuditEventPage> {
    return this.#read((database) => listAuditEvents(database, query));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  async #read<T>(read: (database: DatabaseSync) => T): Promise<T> {
    try {
      return read(this.#database);
    } catch (cause) {
      throw keyStoreUnavailable(this.#path, cause);
    }
  }
}

function openReadOnly(path: string): DatabaseSync {
  const foreign = foreignFile(path, KEY_DATABASE);
  if (foreign !== undefined) throw new Error(foreign);
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    if (found < 1) throw new Error('the file holds no gateway keys');
    if (found > KEY_SCHEMA_VERSION) throw new Error(newerText(found, KEY_DATABASE));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
