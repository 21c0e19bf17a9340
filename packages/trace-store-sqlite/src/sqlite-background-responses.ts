import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import type { BackgroundResponses, RememberedResponse } from '@vitrine/traces/background-responses';
import type { TraceDictionary } from './trace-dictionary.ts';

/** Responses that are remembered; the oldest are forgotten first. They also go with the traces of their time. */
export const BACKGROUND_RESPONSES_MAX = 65_536;
/** After so many new ones it is seen to that they are not too many. */
const CHECKED_EVERY = 256;

/** What was created in the background, in the file of the traces: in the transaction of the trace that creates or counts it, so that both
 *  are there or neither, and a restart changes nothing. Of ids there is a hash: they are what a provider or a client made up. */
export class SqliteBackgroundResponses implements BackgroundResponses {
  readonly #dictionary: TraceDictionary;
  readonly #max: number;
  readonly #add: StatementSync;
  readonly #take: StatementSync;
  readonly #tenant: StatementSync;
  readonly #trim: StatementSync;
  #added = 0;

  constructor(database: DatabaseSync, dictionary: TraceDictionary, max: number = BACKGROUND_RESPONSES_MAX) {
    this.#dictionary = dictionary;
    this.#max = max;
    this.#add = database.prepare('INSERT INTO background_responses VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING');
    this.#take = database.prepare(
      'UPDATE background_responses SET counted = 1 WHERE tenant = ? AND response = ? AND counted = 0 RETURNING scope, model',
    );
    this.#tenant = database.prepare('SELECT tenant FROM tenants WHERE org_id = ? AND workspace_id = ?');
    this.#trim = database.prepare(
      `DELETE FROM background_responses WHERE (tenant, response) IN (SELECT tenant, response FROM background_responses
       ORDER BY created_at DESC LIMIT -1 OFFSET ?)`,
    );
  }

  remember({ id, scope, model, createdAt }: RememberedResponse & { readonly createdAt: number }): void {
    const number = this.#dictionary.scope(scope);
    this.#add.run(this.#dictionary.tenantOf(number), hashOf(id), number, model, createdAt);
    if (this.#added % CHECKED_EVERY === 0) this.#trim.run(this.#max);
    this.#added += 1;
  }

  take(id: string, { org_id, workspace_id }: ExchangeScope): Omit<RememberedResponse, 'id'> | undefined {
    const tenant = this.#tenant.get(org_id, workspace_id)?.['tenant'];
    const taken = tenant === undefined ? undefined : this.#take.get(tenant, hashOf(id));
    if (taken === undefined) return undefined;
    return { scope: this.#dictionary.scopeOf(Number(taken['scope'])), model: String(taken['model']) };
  }
}

function hashOf(id: string): Uint8Array {
  return hash('sha256', id, 'buffer');
}
