import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { TraceRecord } from '../trace-record.ts';
import { COST_STATUSES, OUTCOMES, USAGE_STATUSES } from '../trace.ts';
import type { TraceDictionary } from './trace-dictionary.ts';
import type { JournalEntry } from './trace-journal.ts';

const COLUMNS =
  'id, scope, model, credential, response_status, total_tokens, timestamp, latency_ms, time_to_first_token_us, ' +
  'input_tokens, output_tokens, estimated_cost_usd, outcome, usage_status, cost_status, target, payload';
const LINEAGE_COLUMNS = 'trace_group_id, thread_id, run_id, parent_checkpoint_id, checkpoint_seq';
const COLUMN_COUNT = COLUMNS.split(',').length;
/** Rows of one statement: 1.1 µs each where one alone takes 1.5; 16 gain nothing more. */
const GROUP = 8;

/** Thrown when some of the rows are there already. Ids are made when traces are, so that it takes a batch that comes twice. */
export const ALREADY_THERE = new Error('a trace was written before');

/** Inserts rows into `traces`, several at a time, and tells the journal of them. */
export class TraceInsert {
  readonly #dictionary: TraceDictionary;
  readonly #one: StatementSync;
  readonly #group: StatementSync;
  readonly #addLineage: StatementSync;
  /** What waits to be inserted, column by column. */
  readonly #values: SQLInputValue[] = [];
  readonly #lineages: TraceRecord[] = [];

  constructor(database: DatabaseSync, dictionary: TraceDictionary) {
    const insert = (rows: number) => {
      const row = `(${Array(COLUMN_COUNT).fill('?').join()})`;
      return database.prepare(
        `INSERT INTO traces (${COLUMNS}) VALUES ${Array(rows).fill(row).join()} ON CONFLICT (id) DO NOTHING`,
      );
    };
    this.#dictionary = dictionary;
    this.#one = insert(1);
    this.#group = insert(GROUP);
    this.#addLineage = database.prepare(`UPDATE traces SET (${LINEAGE_COLUMNS}) = (?,?,?,?,?) WHERE id = ?`);
  }

  /** Forgets what an earlier batch left behind. */
  start(): void {
    this.#values.length = 0;
    this.#lineages.length = 0;
  }

  add(r: TraceRecord, payload: number, journal: JournalEntry): void {
    const dictionary = this.#dictionary;
    const scope = dictionary.scope(r.scope);
    const model = dictionary.model(r.provider, r.model);
    const credential = dictionary.credential(r.api_key_hash);
    journal.add(scope, model, credential, r);
    this.#values.push(
      r.id,
      scope,
      model,
      credential,
      r.response_status,
      r.total_tokens,
      r.timestamp,
      r.latency_ms,
      r.time_to_first_token_us,
      r.input_tokens,
      r.output_tokens,
      r.estimated_cost_usd,
      OUTCOMES.indexOf(r.outcome),
      USAGE_STATUSES.indexOf(r.usage_status),
      COST_STATUSES.indexOf(r.cost_status),
      dictionary.target(r.request_method, r.request_path),
      payload,
    );
    for (const _ in r.lineage) {
      this.#lineages.push(r);
      break;
    }
    if (this.#values.length === GROUP * COLUMN_COUNT) this.#insert(this.#group, this.#values.splice(0), GROUP);
  }

  /** Inserts what still waits. */
  end(): void {
    const values = this.#values;
    for (let at = 0; at < values.length; at += COLUMN_COUNT) this.#insert(this.#one, values.slice(at, at + COLUMN_COUNT), 1);
    for (const { id, lineage } of this.#lineages)
      this.#addLineage.run(
        lineage.trace_group_id ?? null,
        lineage.thread_id ?? null,
        lineage.run_id ?? null,
        lineage.parent_checkpoint_id ?? null,
        lineage.checkpoint_seq ?? null,
        id,
      );
  }

  #insert(statement: StatementSync, values: readonly SQLInputValue[], rows: number): void {
    if (statement.run(...values).changes !== rows) throw ALREADY_THERE;
  }
}
