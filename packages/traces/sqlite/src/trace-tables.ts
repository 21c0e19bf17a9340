import { invariant } from '@vitrine/faults/invariant';
import type { DatabaseSync } from 'node:sqlite';
import { newerText, refuseForeignTables, type OwnTables } from '@vitrine/sqlite/database-file';
import { BODY_COLUMNS, TRACE_COLUMNS, type TraceColumn } from '@vitrine/traces/trace-columns';
import { LEVELS } from './sum-tables.ts';
import { columnType } from './trace-columns.ts';

/** The version of the first release. Files of earlier versions are not read. */
export const FIRST_SCHEMA_VERSION = 5;
/** Statements that migrate a file from each version to the next, starting with the first. A change of the tables below appends one. */
const STEPS: readonly string[] = [
  // What is not known of costs and usage. Before it, everything was counted as known.
  `ALTER TABLE traces ADD COLUMN cost_upper_usd REAL;
  ALTER TABLE traces ADD COLUMN response_model TEXT;
  CREATE INDEX traces_by_usage_status ON traces (usage_status, id) WHERE usage_status <> 'reported';
  CREATE INDEX traces_by_cost_status ON traces (cost_status, id) WHERE cost_status <> 'priced';
  ALTER TABLE trace_sums ADD COLUMN rejected INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE trace_sums ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE trace_sums ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE trace_sums ADD COLUMN missing_usage INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE trace_sums ADD COLUMN upper_thousands INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE trace_sums ADD COLUMN upper_pico INTEGER NOT NULL DEFAULT 0;
  UPDATE trace_sums SET upper_thousands = cost_thousands, upper_pico = cost_pico;
  ALTER TABLE day_usage ADD COLUMN estimated_tokens INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE day_usage ADD COLUMN upper_thousands INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE day_usage ADD COLUMN upper_pico INTEGER NOT NULL DEFAULT 0;
  UPDATE day_usage SET upper_thousands = cost_thousands, upper_pico = cost_pico;`,
];
/** Version of the tables below, stored in the file itself (`PRAGMA user_version`). */
export const SCHEMA_VERSION: number = FIRST_SCHEMA_VERSION + STEPS.length;

/** How a trace file is recognised, in every version. */
export const TRACE_FILE: OwnTables = {
  what: 'a Vitrine trace file',
  tables: ['traces', 'totals'],
  version: SCHEMA_VERSION,
};

const columnsOf = (columns: readonly TraceColumn[]) => columns.map((column) => `${column.name} ${columnType(column)}`).join(', ');

// One row per exchange, in the order of ids, which equals that of `created_at`. Times are milliseconds since the epoch. Columns shown
// only on the page of one trace are in a separate table, so that lists read little.
const TRACES = `
  CREATE TABLE traces (${columnsOf(TRACE_COLUMNS)}, PRIMARY KEY (id)) STRICT, WITHOUT ROWID;
  CREATE TABLE trace_bodies (${columnsOf(BODY_COLUMNS)}, PRIMARY KEY (id)) STRICT, WITHOUT ROWID;`;

/** Increases with the number of tokens: the number of digits and the first digit. With exact numbers each trace would change another page of the
 *  index, which took as long as the rest of its write (8 us). */
export const TOKENS_MAGNITUDE = '(length(total_tokens) * 10 + substr(total_tokens, 1, 1))';

// One index per filter of a list. All of them end with the id, and so have the order of lists. Most exchanges have status 200, a reported
// usage and a price, and few have lineage.
const INDEXES = `
  CREATE INDEX traces_by_tenant ON traces (org_id, workspace_id, id);
  CREATE INDEX traces_by_provider ON traces (provider, id);
  CREATE INDEX traces_by_model ON traces (model, id);
  CREATE INDEX traces_by_credential ON traces (api_key_hash, id) WHERE api_key_hash IS NOT NULL;
  CREATE INDEX traces_by_status ON traces (response_status, id) WHERE response_status <> 200;
  CREATE INDEX traces_by_usage_status ON traces (usage_status, id) WHERE usage_status <> 'reported';
  CREATE INDEX traces_by_cost_status ON traces (cost_status, id) WHERE cost_status <> 'priced';
  CREATE INDEX traces_by_tokens ON traces (${TOKENS_MAGNITUDE}, id);
  CREATE INDEX traces_by_group ON traces (trace_group_id, id) WHERE trace_group_id IS NOT NULL;
  CREATE INDEX traces_by_thread ON traces (thread_id, id) WHERE thread_id IS NOT NULL;
  CREATE INDEX traces_by_run ON traces (run_id, id) WHERE run_id IS NOT NULL;`;

// Sums of the traces of an hour or a day (`level`): by gateway key and credential, by model of a tenant, and by model of all tenants.
// Columns that a level does not distinguish are ''. Money is exact: thousands of dollars, and trillionths of a dollar below them.
// `latencies` has pairs of bucket and count, as in '51:3,120:1,'.
const SUMS = `
  CREATE TABLE trace_sums (
    level TEXT NOT NULL CHECK (level IN (${LEVELS.map((level) => `'${level}'`).join()})),
    org_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    bucket_start INTEGER NOT NULL,
    gateway_key_id TEXT NOT NULL,
    api_key_hash TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    requests INTEGER NOT NULL,
    rejected INTEGER NOT NULL DEFAULT 0,
    unpriced INTEGER NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0,
    missing_usage INTEGER NOT NULL DEFAULT 0,
    errors_4xx INTEGER NOT NULL,
    errors_5xx INTEGER NOT NULL,
    streams INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    total_tokens INTEGER NOT NULL,
    cost_thousands INTEGER NOT NULL,
    cost_pico INTEGER NOT NULL,
    upper_thousands INTEGER NOT NULL DEFAULT 0,
    upper_pico INTEGER NOT NULL DEFAULT 0,
    latency_ms INTEGER NOT NULL,
    latency_ms_min INTEGER NOT NULL,
    latency_ms_max INTEGER NOT NULL,
    first_token_us INTEGER NOT NULL,
    last_active_at INTEGER NOT NULL,
    first_created_at INTEGER NOT NULL,
    last_created_at INTEGER NOT NULL,
    latencies TEXT NOT NULL,
    PRIMARY KEY (level, org_id, workspace_id, bucket_start, gateway_key_id, api_key_hash, provider, model)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE day_usage (
    day TEXT NOT NULL,
    org_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    gateway_key_id TEXT NOT NULL,
    requests INTEGER NOT NULL,
    total_tokens INTEGER NOT NULL,
    estimated_tokens INTEGER NOT NULL DEFAULT 0,
    cost_thousands INTEGER NOT NULL,
    cost_pico INTEGER NOT NULL,
    upper_thousands INTEGER NOT NULL DEFAULT 0,
    upper_pico INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, org_id, workspace_id, gateway_key_id)
  ) STRICT, WITHOUT ROWID;`;

// Background responses: `response` is a hash of the provider's id. They are counted once, when their usage is first seen. Traces created
// before `removed_before` may have been removed.
const OTHERS = `
  CREATE TABLE background_responses (
    org_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    response BLOB NOT NULL,
    gateway_key_id TEXT NOT NULL,
    role TEXT NOT NULL,
    model TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    counted INTEGER NOT NULL,
    PRIMARY KEY (org_id, workspace_id, response)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX background_responses_by_time ON background_responses (created_at);
  CREATE TABLE totals (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO totals VALUES ('trace_count', 0), ('removed_before', 0);`;

/** Creates the tables in a new file, and migrates those of an earlier version. Throws without changing the file when a later version or another
 *  program wrote it. */
export function createTraceTables(database: DatabaseSync): void {
  const found = schemaIn(database);
  if (found === SCHEMA_VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    if (found === 0) {
      refuseForeignTables(database, TRACE_FILE);
      database.exec(`${TRACES} ${INDEXES} ${SUMS} ${OTHERS}`);
    } else for (const step of STEPS.slice(found - FIRST_SCHEMA_VERSION)) database.exec(step);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** The version of a file's tables; 0 without tables. Throws for an unsupported version. */
function schemaIn(database: DatabaseSync): number {
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
  if (found > SCHEMA_VERSION) throw new Error(newerText(found, TRACE_FILE));
  if (found > 0 && found < FIRST_SCHEMA_VERSION)
    throw new Error(`the file has schema ${found} from before version 0.1.0, which is no longer supported: move it away`);
  return found;
}

/** Throws for a file that this version cannot read without a migration. */
export function requireTraceTables(database: DatabaseSync): void {
  const found = schemaIn(database);
  invariant(found > 0, 'a writer has made the tables');
  if (found < SCHEMA_VERSION)
    throw new Error(`the file has schema ${found}, this version reads ${SCHEMA_VERSION}: start a gateway of this version on it`);
}
