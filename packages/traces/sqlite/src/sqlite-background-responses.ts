import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { settledRecord, type BackgroundCreator } from '@vitrine/traces/background-response';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import type { TraceRecord } from '@vitrine/traces/trace-record';

/** Maximum number of remembered responses. The oldest are removed first. They are also removed with the traces of their time. */
const BACKGROUND_RESPONSES_MAX = 65_536;
/** Number of new ones after which the maximum is enforced. */
const CHECKED_EVERY = 256;

/** Background responses in the file of the traces. They are stored in the transaction of the trace that creates or counts them, so that both are
 *  committed or neither, also across a restart. */
export class SqliteBackgroundResponses {
  readonly #max: number;
  readonly #add: StatementSync;
  readonly #link: StatementSync;
  readonly #take: StatementSync;
  readonly #trim: StatementSync;
  #added = 0;

  constructor(database: DatabaseSync, max: number = BACKGROUND_RESPONSES_MAX) {
    this.#max = max;
    this.#add = database.prepare('INSERT INTO background_responses VALUES (?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING');
    this.#link = database.prepare(
      `INSERT INTO background_responses SELECT org_id, workspace_id, ?, gateway_key_id, role, model, created_at, 0
       FROM background_responses WHERE org_id = ? AND workspace_id = ? AND response = ? ON CONFLICT DO NOTHING`,
    );
    this.#take = database.prepare(
      `UPDATE background_responses SET counted = 1 WHERE org_id = ? AND workspace_id = ? AND response = ? AND counted = 0
       RETURNING gateway_key_id, role, model`,
    );
    this.#trim = database.prepare(
      `DELETE FROM background_responses WHERE (org_id, workspace_id, response) IN (SELECT org_id, workspace_id, response
       FROM background_responses ORDER BY created_at DESC LIMIT -1 OFFSET ?)`,
    );
  }

  /** The stored form of `record`, which differs from the derived one if it read back a finished response. */
  settle(record: TraceRecord): TraceRecord {
    const { background, batch_files: files = [] } = record;
    for (const { batch, file } of files) this.#addFile(record.scope, batch, file);
    if (background === undefined) return record;
    const response = Buffer.from(background.response, 'hex');
    if (background.role === 'finished') return settledRecord(record, this.#claim(record.scope, response));
    this.#remember(record, response);
    return record;
  }

  /** A file of results has the creator of its batch. */
  #addFile({ org_id, workspace_id }: ExchangeScope, batch: string, file: string): void {
    this.#link.run(Buffer.from(file, 'hex'), org_id, workspace_id, Buffer.from(batch, 'hex'));
  }

  #remember({ scope, model, created_at }: TraceRecord, response: Uint8Array): void {
    const { org_id, workspace_id, gateway_key_id, role } = scope;
    this.#add.run(org_id, workspace_id, response, gateway_key_id, role, model, created_at);
    if (this.#added % CHECKED_EVERY === 0) this.#trim.run(this.#max);
    this.#added += 1;
  }

  #claim({ org_id, workspace_id }: ExchangeScope, response: Uint8Array): BackgroundCreator | undefined {
    const claimed = this.#take.get(org_id, workspace_id, response);
    if (claimed === undefined) return undefined;
    const scope = { org_id, workspace_id, gateway_key_id: String(claimed['gateway_key_id']), role: String(claimed['role']) };
    return { scope, model: String(claimed['model']) };
  }
}
