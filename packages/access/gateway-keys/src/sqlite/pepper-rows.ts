import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import type { PepperUse, StoredPeppers } from '@vitrine/credentials/pepper-problem';
import type { DatabaseSync } from 'node:sqlite';

/** The peppers of gateway keys. Hashes that only keep a token taken need no pepper. A file of an earlier version has no fingerprints. */
export function readStoredPeppers(database: DatabaseSync): StoredPeppers {
  const hasTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'pepper_fingerprints'").get() !== undefined;
  const recorded = hasTable ? database.prepare('SELECT pepper_version, pepper_fingerprint FROM pepper_fingerprints').all() : [];
  const used = database
    .prepare('SELECT pepper_version, count(*) AS hashes FROM gateway_keys WHERE revoked_at IS NULL GROUP BY pepper_version')
    .all();
  return {
    recorded: recorded.map((row): PepperIdentity => ({
      pepper_version: Number(row['pepper_version']),
      pepper_fingerprint: String(row['pepper_fingerprint']),
    })),
    used: used.map((row): PepperUse => ({ pepper_version: Number(row['pepper_version']), hashes: Number(row['hashes']) })),
  };
}

/** What is recorded never changes. */
export function recordPeppers(database: DatabaseSync, peppers: readonly PepperIdentity[]): void {
  const record = database.prepare('INSERT OR IGNORE INTO pepper_fingerprints VALUES (?, ?)');
  for (const { pepper_version, pepper_fingerprint } of peppers) record.run(pepper_version, pepper_fingerprint);
}
