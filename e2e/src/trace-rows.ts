import { DatabaseSync } from 'node:sqlite';

/** The models of all traces in a database file that no process has open, after a full integrity check by SQLite. */
export function storedModels(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const check = database.prepare('PRAGMA integrity_check').all();
    if (check.length !== 1 || check[0]?.['integrity_check'] !== 'ok') throw new Error(`${path}: ${JSON.stringify(check)}`);
    return database
      .prepare('SELECT model FROM traces')
      .all()
      .map((row) => String(row['model']));
  } finally {
    database.close();
  }
}
