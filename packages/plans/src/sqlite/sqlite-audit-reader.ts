import { DatabaseSync } from 'node:sqlite';
import type { AuditEventPage, AuditQuery } from '../audit-event-page.ts';
import { listAuditEvents } from './audit-rows.ts';
import { KEY_SCHEMA_VERSION } from './key-tables.ts';

const BUSY_TIMEOUT_MS = 2_000;

/** Reads audit events over a connection that cannot write, beside whoever has the file open. Synchronous. */
export class SqliteAuditReader implements Disposable {
  readonly #database: DatabaseSync;

  /** Throws when the file holds no keys, or those of a newer version. An earlier version's has the same events, without an index. */
  constructor(path: string) {
    this.#database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    try {
      const found = Number(this.#database.prepare('PRAGMA user_version').get()?.['user_version']);
      if (found < 1) throw new Error('the file holds no gateway keys');
      if (found > KEY_SCHEMA_VERSION)
        throw new Error(`the file holds schema ${found}, this version knows up to ${KEY_SCHEMA_VERSION}`);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  list(query: AuditQuery): AuditEventPage {
    return listAuditEvents(this.#database, query);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
