import type { DatabaseSync } from 'node:sqlite';
import { newerText, refuseForeignTables, type OwnTables } from '@vitrine/sqlite/database-file';
import { addLineagesOfRows } from './add-lineages-of-rows.ts';
import { migrateFromSchema1 } from './migrate-from-schema-1.ts';

/** Version of the tables below, kept in the file itself (`PRAGMA user_version`). */
export const SCHEMA_VERSION = 4;

/** What tells a trace file from other databases, in every version. */
export const TRACE_FILE: OwnTables = {
  what: 'a Vitrine trace file',
  tables: ['traces', 'payload_pages', 'totals'],
  version: SCHEMA_VERSION,
};

// Numbers of models and credentials, which go when nothing tells of them any more, are not given again: readers remember them.
// `traces` is what lists and filters read: narrow, and ordered by id, which is (created_at, id). Texts that many traces share
// stand once in a dictionary, and rows hold their numbers: that halves the rows and takes a quarter of the time. `outcome`,
// `usage_status` and `cost_status` are places in the lists of `trace.ts`; `target` is a number of `targets`, or `METHOD path`.
// `group_fallback` tells whether the group is only a label (`lineage-headers.ts`); rows of schema 3 and before do not say.
// What only one trace's page shows stands apart: the payloads of a batch share a row of `payload_pages`, compressed, which takes
// half the time of a row each and an eighth of the space. `payload` is page * PAYLOADS_PER_PAGE + the place in it.
const TRACES = `
  CREATE TABLE tenants (
    tenant INTEGER PRIMARY KEY, org_id TEXT NOT NULL, workspace_id TEXT NOT NULL, UNIQUE (org_id, workspace_id)
  ) STRICT;
  CREATE TABLE scopes (
    scope INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, gateway_key_id TEXT NOT NULL, role TEXT NOT NULL,
    UNIQUE (tenant, gateway_key_id, role)
  ) STRICT;
  CREATE TABLE models (
    model INTEGER PRIMARY KEY AUTOINCREMENT, provider TEXT NOT NULL, name TEXT NOT NULL, used_day INTEGER NOT NULL, UNIQUE (name, provider)
  ) STRICT;
  CREATE TABLE credentials (
    credential INTEGER PRIMARY KEY AUTOINCREMENT, api_key_hash BLOB NOT NULL UNIQUE, used_day INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE targets (
    target INTEGER PRIMARY KEY, request_method TEXT NOT NULL, request_path TEXT NOT NULL
  ) STRICT;
  CREATE TABLE traces (
    id BLOB NOT NULL PRIMARY KEY,
    scope INTEGER NOT NULL,
    model INTEGER NOT NULL,
    credential INTEGER NOT NULL,
    response_status INTEGER NOT NULL,
    total_tokens INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    latency_ms INTEGER NOT NULL,
    time_to_first_token_us INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    estimated_cost_usd REAL NOT NULL,
    outcome INTEGER NOT NULL,
    usage_status INTEGER NOT NULL,
    cost_status INTEGER NOT NULL,
    target ANY NOT NULL,
    payload INTEGER NOT NULL,
    trace_group_id TEXT,
    thread_id TEXT,
    run_id TEXT,
    parent_checkpoint_id TEXT,
    checkpoint_seq INTEGER
  , group_fallback INTEGER) STRICT, WITHOUT ROWID;`;

// Most rows are not in it, and few statuses are many: it costs an ordinary row next to nothing.
const STATUS_INDEX = 'CREATE INDEX traces_by_status ON traces (response_status, id) WHERE response_status <> 200;';

// `journal` holds what the newest batches add to `rollups`, `day_usage` and `lineages`, until enough is there to add it at once: a
// row a batch, where roll-ups of many keys and models would be hundreds. Whoever reads one reads both.
const JOURNAL = `
  CREATE TABLE journal (
    batch INTEGER PRIMARY KEY, count INTEGER NOT NULL, traces BLOB NOT NULL, lineages BLOB NOT NULL
  ) STRICT;`;

// Which of the traces have which ids of `LINEAGE_IDS`, by segments of those that were written one after the other. Of each entry
// there is a hash and `created_at` (`lineage-entries.ts`), in no order; `place` is of a segment and of some hashes.
const LINEAGES = `
  CREATE TABLE lineage_segments (
    segment INTEGER PRIMARY KEY, traces INTEGER NOT NULL, oldest INTEGER NOT NULL, newest INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE lineages (place INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;`;

// Roll-ups are blobs (`rollup-block.ts`); a row holds all of a tenant's for an hour or a day, or, beyond a bound, a chunk of them.
const ROLLUPS = `
  CREATE TABLE rollups (
    rollup INTEGER PRIMARY KEY,
    level INTEGER NOT NULL,
    tenant INTEGER NOT NULL,
    start INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    count INTEGER NOT NULL,
    oldest INTEGER NOT NULL,
    newest INTEGER NOT NULL,
    sums BLOB NOT NULL,
    latencies BLOB NOT NULL,
    UNIQUE (level, tenant, start, chunk)
  ) STRICT;
  CREATE TABLE day_usage (
    day INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    total_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    PRIMARY KEY (day, scope)
  ) STRICT, WITHOUT ROWID;`;

// Responses that were created in the background: `response` is a hash of the provider's id, `scope` the key that created it. They are
// counted once, when their usage is first seen.
const BACKGROUND = `
  CREATE TABLE background_responses (
    tenant INTEGER NOT NULL,
    response BLOB NOT NULL,
    scope INTEGER NOT NULL,
    model TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    counted INTEGER NOT NULL,
    PRIMARY KEY (tenant, response)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX background_responses_by_time ON background_responses (created_at);`;

const OTHERS = `
  CREATE TABLE payload_pages (
    page INTEGER PRIMARY KEY,
    newest INTEGER NOT NULL,
    count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    payloads BLOB NOT NULL
  ) STRICT;
  CREATE TABLE totals (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO totals VALUES ('trace_count', 0);`;
// Traces made before this moment may be gone.
const REMOVED_BEFORE = "INSERT INTO totals VALUES ('removed_before', 0);";

// The journal stays, without lineages: those are made of the rows.
const FROM_SCHEMA_2 = `
  DROP INDEX traces_by_group; DROP INDEX traces_by_thread; DROP INDEX traces_by_run;
  ALTER TABLE journal RENAME TO journal_of_schema_2; ${JOURNAL} ${LINEAGES}
  INSERT INTO journal SELECT batch, count, traces, x'' FROM journal_of_schema_2;
  DROP TABLE journal_of_schema_2;`;

// SQLite writes it behind the last column, and so it stands there in a new file.
const FROM_SCHEMA_3 = `ALTER TABLE traces ADD COLUMN group_fallback INTEGER; ${BACKGROUND}`;

/** Brings a database file to `SCHEMA_VERSION`, or leaves it as it was. Throws when the file was written by a newer version, or by
 *  another program. */
export function createTraceTables(database: DatabaseSync): void {
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
  if (found > SCHEMA_VERSION) throw new Error(newerText(found, TRACE_FILE));
  if (found === SCHEMA_VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    if (found === 0) refuseForeignTables(database, TRACE_FILE);
    if (found === 0) database.exec(TRACES + STATUS_INDEX + JOURNAL + LINEAGES + ROLLUPS + BACKGROUND + OTHERS + REMOVED_BEFORE);
    if (found === 1) {
      database.exec(
        `ALTER TABLE traces RENAME TO traces_of_schema_1; ${TRACES} ${JOURNAL} ${LINEAGES} ${ROLLUPS} ${BACKGROUND} ${REMOVED_BEFORE}`,
      );
      migrateFromSchema1(database);
      database.exec(STATUS_INDEX);
    }
    if (found === 2) database.exec(FROM_SCHEMA_2);
    if (found === 1 || found === 2) addLineagesOfRows(database);
    if (found === 2 || found === 3) database.exec(FROM_SCHEMA_3);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
