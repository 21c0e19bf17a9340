import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

interface MakeDatabases {
  readonly paths: readonly string[];
  readonly sql: string;
  /** How many files are complete. */
  readonly made: Int32Array<SharedArrayBuffer>;
}

// A worker thread that creates one database after the other, in WAL mode and in one transaction each, like a store. The close of the
// last connection moves the tables from the log into the file.
const { paths, sql, made } = workerData as MakeDatabases;
for (const path of paths) {
  using database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; ${sql}; COMMIT`);
  Atomics.add(made, 0, 1);
}
