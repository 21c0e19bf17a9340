import { foreignFile, newerText } from '@vitrine/sqlite/database-file';
import { DatabaseSync } from 'node:sqlite';
import type { AuditEventPage, AuditQuery } from '../audit-event-page.ts';
import type { KeyRow } from '../gateway-key.ts';
import { listAuditEvents } from './audit-rows.ts';
import { KEY_COLUMNS, keyRowOf } from './key-row.ts';
import { KEY_DATABASE, KEY_SCHEMA_VERSION } from './key-tables.ts';

const BUSY_TIMEOUT_MS = 2_000;

/** Reads keys and audit events over a connection that cannot write, beside whoever has the file open. Synchronous. */
export class SqliteKeyReader implements Disposable {
  readonly #database: DatabaseSync;

  /** Throws when the file holds no keys, or those of a newer version. An earlier version's has the same columns; it is not migrated. */
  constructor(path: string) {
    const foreign = foreignFile(path, KEY_DATABASE);
    if (foreign !== undefined) throw new Error(foreign);
    this.#database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    try {
      const found = Number(this.#database.prepare('PRAGMA user_version').get()?.['user_version']);
      if (found < 1) throw new Error('the file holds no gateway keys');
      if (found > KEY_SCHEMA_VERSION) throw new Error(newerText(found, KEY_DATABASE));
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** The active keys of all tenants. */
  list(): KeyRow[] {
    return this.#database
      .prepare(`SELECT ${KEY_COLUMNS}, last_used_at FROM gateway_keys WHERE revoked_at IS NULL ORDER BY created_at, id`)
      .all()
      .map(keyRowOf);
  }

  listAudit(query: AuditQuery): AuditEventPage {
    return listAuditEvents(this.#database, query);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
