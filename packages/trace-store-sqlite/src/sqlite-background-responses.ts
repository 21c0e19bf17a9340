import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { BackgroundResponses, RememberedResponse } from '@vitrine/traces/background-responses';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';

/** Responses that are remembered; the oldest are forgotten first. They also go with the traces of their time. */
export const BACKGROUND_RESPONSES_MAX = 65_536;
/** After so many new ones it is seen to that they are not too many. */
const CHECKED_EVERY = 256;

/** What was created in the background, in the file of the traces: in the transaction of the trace that creates or counts it, so that both
 *  are there or neither, and a restart changes nothing. Of ids there is a hash: they are what a provider or a client made up. */
export class SqliteBackgroundResponses implements BackgroundResponses {
  readonly #max: number;
  readonly #add: StatementSync;
  readonly #take: StatementSync;
  readonly #trim: StatementSync;
  #added = 0;

  constructor(database: DatabaseSync, max: number = BACKGROUND_RESPONSES_MAX) {
    this.#max = max;
    this.#add = database.prepare('INSERT INTO background_responses VALUES (?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING');
    this.#take = database.prepare(
      `UPDATE background_responses SET counted = 1 WHERE org_id = ? AND workspace_id = ? AND response = ? AND counted = 0
       RETURNING gateway_key_id, role, model`,
    );
    this.#trim = database.prepare(
      `DELETE FROM background_responses WHERE (org_id, workspace_id, response) IN (SELECT org_id, workspace_id, response
       FROM background_responses ORDER BY created_at DESC LIMIT -1 OFFSET ?)`,
    );
  }

  remember({ id, scope, model, createdAt }: RememberedResponse & { readonly createdAt: number }): void {
    const { org_id, workspace_id, gateway_key_id, role } = scope;
    this.#add.run(org_id, workspace_id, hashOf(id), gateway_key_id, role, model, createdAt);
    if (this.#added % CHECKED_EVERY === 0) this.#trim.run(this.#max);
    this.#added += 1;
  }

  take(id: string, { org_id, workspace_id }: ExchangeScope): Omit<RememberedResponse, 'id'> | undefined {
    const taken = this.#take.get(org_id, workspace_id, hashOf(id));
    if (taken === undefined) return undefined;
    const scope = { org_id, workspace_id, gateway_key_id: String(taken['gateway_key_id']), role: String(taken['role']) };
    return { scope, model: String(taken['model']) };
  }
}

function hashOf(id: string): Uint8Array {
  return hash('sha256', id, 'buffer');
}
