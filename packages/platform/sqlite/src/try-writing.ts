import { DatabaseSync } from 'node:sqlite';

const BUSY_TIMEOUT_MS = 2_000;

/** Commits a write that changes nothing. Throws SQLite's error if the file cannot be written or is locked. Only for our own files. */
export function tryWriting(path: string): void {
  using database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  database.exec('BEGIN IMMEDIATE');
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  database.exec(`PRAGMA user_version = ${version}; COMMIT`);
}
