import { newerText, refuseForeignTables, type OwnTables } from '@vitrine/sqlite/database-file';
import type { DatabaseSync } from 'node:sqlite';

/** Forward only: a released migration never changes, and new ones are appended. The `user_version` of a file is the number of
 *  migrations that were applied to it. */
export const KEY_MIGRATIONS: readonly string[] = [
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
  // `token_hashes` holds every hash that a key of this file, or of the YAML file, has or ever had: if another tenant registered a
  // replaced token, it would receive the requests of every client that still sends it. Triggers fill the table, so that a process of an
  // earlier version, which may have the file open, cannot omit one. The indexes are for reading audit events newest first: of a tenant,
  // with its filters, and of all tenants.
  `CREATE TABLE token_hashes (
     token_mac BLOB NOT NULL PRIMARY KEY,
     pepper_version INTEGER NOT NULL,
     key_id TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   INSERT INTO token_hashes SELECT token_mac, pepper_version, id FROM gateway_keys;
   CREATE TRIGGER gateway_keys_created AFTER INSERT ON gateway_keys BEGIN
     INSERT INTO token_hashes VALUES (NEW.token_mac, NEW.pepper_version, NEW.id);
   END;
   CREATE TRIGGER gateway_keys_rotated AFTER UPDATE OF token_mac ON gateway_keys WHEN NEW.token_mac <> OLD.token_mac BEGIN
     INSERT INTO token_hashes VALUES (NEW.token_mac, NEW.pepper_version, NEW.id);
   END;
   CREATE INDEX audit_events_of_tenant ON audit_events (org_id, workspace_id, at, number, actor, action, outcome);
   CREATE INDEX audit_events_by_time ON audit_events (at);`,
  // The hash of a token that moves to a newer pepper may already exist, because new tokens are stored under every pepper.
  `CREATE TABLE pepper_fingerprints (
     pepper_version INTEGER PRIMARY KEY,
     pepper_fingerprint TEXT NOT NULL
   ) STRICT;
   DROP TRIGGER gateway_keys_rotated;
   CREATE TRIGGER gateway_keys_rotated AFTER UPDATE OF token_mac ON gateway_keys WHEN NEW.token_mac <> OLD.token_mac
     AND NOT EXISTS (SELECT 1 FROM token_hashes WHERE token_mac = NEW.token_mac AND key_id = NEW.id) BEGIN
     INSERT INTO token_hashes VALUES (NEW.token_mac, NEW.pepper_version, NEW.id);
   END;`,
];
/** The schema of a file that this version has opened. */
export const KEY_SCHEMA_VERSION: number = KEY_MIGRATIONS.length;

/** How a database of gateway keys is recognised, in every version. */
export const KEY_DATABASE: OwnTables = {
  what: 'a Vitrine key database',
  tables: ['gateway_keys', 'audit_events'],
  version: KEY_SCHEMA_VERSION,
};

/** Migrates the file to this version's tables, while other processes may have it open. Throws when a newer version or another program
 *  wrote it. */
export function createKeyTables(database: DatabaseSync): void {
  inTransaction(database, () => {
    const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
    if (found > KEY_SCHEMA_VERSION) throw new Error(newerText(found, KEY_DATABASE));
    if (found === 0) refuseForeignTables(database, KEY_DATABASE);
    for (const migration of KEY_MIGRATIONS.slice(found)) database.exec(migration);
    database.exec(`PRAGMA user_version = ${KEY_SCHEMA_VERSION}`);
  });
}

/** Commits the changes of `work`, or rolls them back when it throws. */
export function inTransaction<T>(
  database: DatabaseSync,
  work: () => T,
  begin: 'BEGIN' | 'BEGIN IMMEDIATE' = 'BEGIN IMMEDIATE',
): T {
  database.exec(begin);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
