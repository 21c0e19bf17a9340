import type { DatabaseSync } from 'node:sqlite';

/** Version of the tables below, kept in the file itself (`PRAGMA user_version`). */
export const SCHEMA_VERSION = 1;

// `traces` is what lists, filters and aggregates read: narrow, and ordered by id, which is (created_at, id). What only one
// trace's page shows stands apart: the payloads of a batch share a row of `payload_pages`, compressed, which takes half the
// time of a row each and an eighth of the space. `payload` is page * PAYLOADS_PER_PAGE + the place in it.
// There is no secondary index: each would cost every write about a microsecond, and both tables only grow at their end.
const TABLES = `
  CREATE TABLE IF NOT EXISTS traces (
    id BLOB NOT NULL PRIMARY KEY,
    timestamp INTEGER NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    request_method TEXT NOT NULL,
    request_path TEXT NOT NULL,
    response_status INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    total_tokens INTEGER NOT NULL,
    usage_status TEXT NOT NULL,
    latency_ms INTEGER NOT NULL,
    time_to_first_token_us INTEGER NOT NULL,
    api_key_hash BLOB,
    estimated_cost_usd REAL NOT NULL,
    cost_status TEXT NOT NULL,
    trace_group_id TEXT,
    thread_id TEXT,
    run_id TEXT,
    parent_checkpoint_id TEXT,
    checkpoint_seq INTEGER,
    payload INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS payload_pages (
    page INTEGER PRIMARY KEY,
    newest INTEGER NOT NULL,
    count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    payloads BLOB NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS totals (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT OR IGNORE INTO totals VALUES ('trace_count', 0), ('latency_ms_max', 0);
`;

/** Brings a database file to `SCHEMA_VERSION`. Throws when the file was written by a newer version. */
export function createTraceTables(database: DatabaseSync): void {
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
  if (found > SCHEMA_VERSION) throw new Error(`the file holds schema ${found}, this version knows up to ${SCHEMA_VERSION}`);
  database.exec(`BEGIN IMMEDIATE; ${TABLES} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`);
}
