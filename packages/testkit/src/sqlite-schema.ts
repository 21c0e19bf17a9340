import type { DatabaseSync } from 'node:sqlite';

/** The statements that create the tables, indexes and triggers of a database, in order of creation. */
export function sqliteSchema(database: DatabaseSync): string {
  const statements = database.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid').all();
  const version = String(database.prepare('PRAGMA user_version').get()?.['user_version']);
  return [...statements.map(({ sql }) => `${String(sql)};\n`), `PRAGMA user_version = ${version};\n`].join('');
}
