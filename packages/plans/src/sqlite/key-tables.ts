import type { DatabaseSync } from 'node:sqlite';

// Forward only: what is here has run somewhere and never changes; what comes next is added behind it. The file's `user_version`
// is how many of them it has seen.
const MIGRATIONS = [
  `CREATE TABLE gateway_keys (
     id TEXT NOT NULL PRIMARY KEY,
     org_id TEXT NOT NULL,
     workspace_id TEXT NOT NULL,
     name TEXT,
     description TEXT,
     created_by TEXT,
     role TEXT NOT NULL,
     permissions TEXT NOT NULL,
     plan TEXT,
     created_at INTEGER NOT NULL,
     last_used_at INTEGER,
     managed_by TEXT,
     managed_resource TEXT,
     pepper_version INTEGER NOT NULL,
     token_mac BLOB NOT NULL,
     revision INTEGER NOT NULL,
     revoked_at INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE UNIQUE INDEX gateway_keys_token_mac ON gateway_keys (token_mac);
   CREATE UNIQUE INDEX gateway_keys_revision ON gateway_keys (revision);
   CREATE INDEX gateway_keys_active ON gateway_keys (created_at, id) WHERE revoked_at IS NULL;
   CREATE TABLE audit_events (
     number INTEGER PRIMARY KEY,
     at INTEGER NOT NULL,
     actor TEXT NOT NULL,
     action TEXT NOT NULL,
     target TEXT NOT NULL,
     outcome TEXT NOT NULL,
     reason TEXT NOT NULL,
     correlation_id TEXT NOT NULL,
     org_id TEXT NOT NULL,
     workspace_id TEXT NOT NULL
   ) STRICT;`,
];

/** Brings the file to this version's tables, whoever else has it open. Throws when a newer version wrote it. */
export function createKeyTables(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
    if (found > MIGRATIONS.length)
      throw new Error(`the file holds schema ${found}, this version knows up to ${MIGRATIONS.length}`);
    for (const migration of MIGRATIONS.slice(found)) database.exec(migration);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
