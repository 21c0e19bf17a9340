import { pepperProblem } from '@vitrine/credentials/pepper-problem';
import type { TokenHash } from '@vitrine/credentials/token-hashes';
import { isFault } from '@vitrine/faults/fault';
import { invariant } from '@vitrine/faults/invariant';
import type { Row } from '@vitrine/postgres/connection';
import { addressText } from '@vitrine/postgres/dsn';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import { randomUUID } from 'node:crypto';
import { KEY_BOUNDS, keyStoreUnavailable } from '../key-store.ts';
import {
  MANAGED_KEY_FIELDS,
  type ManagedKey,
  type ManagedKeyFields,
  type ManagedKeyRevision,
  type ManagedKeyRows,
  type NewManagedKey,
  type OwnedKey,
  type RegisterOutcome,
  type TokenOfKey,
  type TokenOutcome,
} from '../managed-key.ts';
import { insertAuditEvents } from './audit-rows.ts';
import { changeKeys, nextRevision } from './key-changes.ts';
import { countActiveKeys, insertKeyRows, keyRowOf, usedKeyIds } from './key-row.ts';
import { isKnown, keepHashes, moveTokens, readStoredPeppers, storedPepperProblem, takenByOthers } from './token-hash-rows.ts';

const OPERATOR = 'operator';
/** Condition for a row owned by the resource, with the parameters of `OwnedKey` first. */
const OWNED = 'id = $1 AND owner_uid = $2';
/** Columns set by every change, with the next two parameters. */
const CHANGED = 'revision = $3, changed_by = $4';
const FIELDS = MANAGED_KEY_FIELDS.map((field) => `${field} = ${parameterOf(field)}`).join(', ');
const PROMOTED = `pepper_version = next_pepper_version, token_mac = next_token_mac, next_pepper_version = NULL, next_token_mac = NULL,
  previous_pepper_version = CASE WHEN revoked_at IS NULL THEN pepper_version END,
  previous_token_mac = CASE WHEN revoked_at IS NULL THEN token_mac END,
  previous_until = CASE WHEN revoked_at IS NULL THEN now() + $5 * interval '1 millisecond' END,
  revoked_at = NULL`;
const SELECT_KEY = `SELECT k.*, p.pepper_fingerprint FROM gateway_keys AS k
  LEFT JOIN pepper_fingerprints AS p ON p.purpose = 'gateway_keys' AND p.pepper_version = k.pepper_version WHERE k.id = $1`;

type Action = 'create' | 'update' | 'rotate' | 'revoke' | 'adopt' | 'release';

/** Rows of keys in Postgres that resources own. */
export class PostgresManagedKeys implements ManagedKeyRows {
  readonly #pool: PostgresPool;
  readonly #transactions: Pick<PostgresPool, 'transaction'>;
  readonly #maxActiveKeys: number;
  readonly #writer = `operator ${randomUUID()}`;

  /** Reads from `pool`, and writes by `transactions`, which may refuse work of an operator that no longer leads. */
  constructor(
    pool: PostgresPool,
    transactions: Pick<PostgresPool, 'transaction'> = pool,
    maxActiveKeys = KEY_BOUNDS.maxActiveKeys,
  ) {
    this.#pool = pool;
    this.#transactions = transactions;
    this.#maxActiveKeys = maxActiveKeys;
  }

  read(id: string): Promise<ManagedKey | undefined> {
    return this.#call(async () => {
      const [row] = await this.#pool.query(SELECT_KEY, [id]);
      return row === undefined ? undefined : managedKeyOf(row);
    });
  }

  revisions(): Promise<readonly ManagedKeyRevision[]> {
    return this.#call(() =>
      this.#transactions.transaction((database) =>
        database.query<Row & ManagedKeyRevision>(
          `SELECT owner_uid, revision, changed_by = $1 AS "isOwn" FROM gateway_keys WHERE owner_uid IS NOT NULL AND revoked_at IS NULL`,
          [this.#writer],
        ),
      ),
    );
  }

  async register(key: OwnedKey, fields: ManagedKeyFields, token: TokenOfKey): Promise<RegisterOutcome> {
    const [outcome] = await this.registerAll([{ key, fields, token }]);
    invariant(outcome !== undefined, 'each key has an outcome');
    return outcome;
  }

  registerAll(keys: readonly NewManagedKey[]): Promise<readonly RegisterOutcome[]> {
    return this.#change(async (database) => {
      const free = this.#maxActiveKeys - (await countActiveKeys(database));
      const usedIds = await usedKeyIds(
        database,
        keys.map(({ key }) => key.id),
      );
      const tokens = keys.map(({ key, token }) => ({ id: key.id, known: token }));
      const takenBy = new Set(await takenByOthers(database, tokens));
      const peppers = await readStoredPeppers(database);
      const made: NewManagedKey[] = [];
      const outcomes = keys.map((one): RegisterOutcome => {
        if (made.length >= free) return 'full';
        if (usedIds.has(one.key.id)) return 'id_taken';
        if (takenBy.has(one.key.id) || made.some(({ token }) => haveSameHash(token, one.token))) return 'token_taken';
        if (pepperProblem(one.token, peppers) !== undefined) return 'pepper_mismatch';
        usedIds.add(one.key.id);
        made.push(one);
        return 'registered';
      });
      if (made.length > 0) await this.#insert(database, made);
      return outcomes;
    });
  }

  update(key: OwnedKey, fields: ManagedKeyFields): Promise<boolean> {
    return this.#write('update', key, `${FIELDS} WHERE ${OWNED} AND revoked_at IS NULL`, fieldValues(fields));
  }

  adopt(key: OwnedKey, fields: ManagedKeyFields): Promise<boolean> {
    const sameTenant = `org_id = ${parameterOf('org_id')} AND workspace_id = ${parameterOf('workspace_id')}`;
    const free = `id = $1 AND owner_uid IS NULL AND managed_by IS NULL AND ${sameTenant} AND revoked_at IS NULL`;
    return this.#write('adopt', key, `owner_uid = $2, managed_by = '${OPERATOR}', ${FIELDS} WHERE ${free}`, fieldValues(fields));
  }

  stageToken(key: OwnedKey, token: TokenOfKey): Promise<TokenOutcome> {
    return this.#change((database) => this.#stage(database, key, token));
  }

  promoteToken(key: OwnedKey, graceMs: number): Promise<boolean> {
    return this.#change((database) => this.#promote(database, key, graceMs));
  }

  replaceToken(key: OwnedKey, token: TokenOfKey, graceMs: number): Promise<TokenOutcome> {
    return this.#change(async (database) => {
      const outcome = await this.#stage(database, key, token);
      if (outcome === 'written') await this.#promote(database, key, graceMs);
      return outcome;
    });
  }

  moveToken(id: string, from: TokenHash, [to]: TokenOfKey): Promise<boolean> {
    return this.#change(async (database) => (await moveTokens(database, [{ id, from, to }], this.#writer)).length > 0);
  }

  revoke(key: OwnedKey): Promise<boolean> {
    const revoked = 'revoked_at = now(), next_pepper_version = NULL, next_token_mac = NULL, previous_token_mac = NULL';
    return this.#write('revoke', key, `${revoked} WHERE ${OWNED} AND revoked_at IS NULL`, []);
  }

  release(key: OwnedKey): Promise<boolean> {
    const free = 'owner_uid = NULL, managed_by = NULL, managed_resource = NULL';
    return this.#write('release', key, `${free} WHERE ${OWNED}`, []);
  }

  async #insert(database: Transaction, keys: readonly NewManagedKey[]): Promise<void> {
    const revision = await nextRevision(database, this.#writer);
    const made = { created_by: OPERATOR, managed_by: OPERATOR, created_at: Date.now() };
    const rows = keys.map(({ key, fields, token: [{ pepper_version, token_mac }] }) => ({
      ...fields,
      ...key,
      ...made,
      pepper_version,
      token_mac,
    }));
    await insertKeyRows(database, rows, revision, this.#writer);
    await keepHashes(
      database,
      keys.map(({ key, token }) => ({ id: key.id, known: token })),
    );
    await audit(
      database,
      'create',
      keys.map(({ key, fields }) => ({ key, tenant: fields })),
    );
  }

  async #stage(database: Transaction, key: OwnedKey, token: TokenOfKey): Promise<TokenOutcome> {
    if (await isKnown(database, token)) return 'token_taken';
    if ((await storedPepperProblem(database, token))?.kind === 'different') return 'pepper_mismatch';
    const [{ pepper_version, token_mac }] = token;
    const set = `next_pepper_version = $5, next_token_mac = $6 WHERE ${OWNED}`;
    const row = await this.#set(database, key, set, [pepper_version, Buffer.from(token_mac)]);
    if (row === undefined) return 'not_owned';
    await keepHashes(database, [{ id: key.id, known: token }]);
    return 'written';
  }

  async #promote(database: Transaction, key: OwnedKey, graceMs: number): Promise<boolean> {
    const row = await this.#set(database, key, `${PROMOTED} WHERE ${OWNED} AND next_token_mac IS NOT NULL`, [graceMs]);
    if (row !== undefined) await audit(database, 'rotate', [{ key, tenant: row }]);
    return row !== undefined;
  }

  #write(action: Action, key: OwnedKey, set: string, values: readonly unknown[]): Promise<boolean> {
    return this.#change(async (database) => {
      const row = await this.#set(database, key, set, values);
      if (row !== undefined) await audit(database, action, [{ key, tenant: row }]);
      return row !== undefined;
    });
  }

  async #set(
    database: Transaction,
    { id, owner_uid }: OwnedKey,
    set: string,
    values: readonly unknown[],
  ): Promise<TenantRow | undefined> {
    const revision = await nextRevision(database, this.#writer);
    const update = `UPDATE gateway_keys SET ${CHANGED}, ${set} RETURNING org_id, workspace_id`;
    const [row] = await database.query<TenantRow>(update, [id, owner_uid, revision, this.#writer, ...values]);
    return row;
  }

  #change<T>(change: (database: Transaction) => Promise<T>): Promise<T> {
    return this.#call(() => changeKeys(this.#transactions, change));
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (cause) {
      if (isFault(cause)) throw cause;
      throw keyStoreUnavailable(addressText(this.#pool.address), cause);
    }
  }
}

interface TenantRow {
  readonly org_id: string;
  readonly workspace_id: string;
}

function fieldValues(fields: ManagedKeyFields): unknown[] {
  return MANAGED_KEY_FIELDS.map((field) => fields[field]);
}

/** After those of `OWNED` and `CHANGED`. */
function parameterOf(field: keyof ManagedKeyFields): string {
  return `$${MANAGED_KEY_FIELDS.indexOf(field) + 5}`;
}

async function audit(
  database: Transaction,
  action: Action,
  changes: readonly { readonly key: OwnedKey; readonly tenant: TenantRow }[],
): Promise<void> {
  const event = { at: Date.now(), actor: OPERATOR, action: `gateway_key.${action}`, outcome: 'allow', reason: '' } as const;
  const events = changes.map(({ key, tenant: { org_id, workspace_id } }) => ({
    ...event,
    target: key.id,
    correlation_id: key.owner_uid,
    org_id,
    workspace_id,
  }));
  await insertAuditEvents(database, events);
}

function haveSameHash(one: TokenOfKey, other: TokenOfKey): boolean {
  return one.some(({ token_mac }) => other.some((hash) => Buffer.compare(token_mac, hash.token_mac) === 0));
}

function managedKeyOf(row: Row): ManagedKey {
  const { pepper_version, token_mac, next, ...key } = keyRowOf(row);
  const token: TokenHash = { pepper_version, token_mac };
  const { owner_uid: owner, pepper_fingerprint: fingerprint } = row;
  return {
    ...key,
    token,
    pepper_fingerprint: typeof fingerprint === 'string' ? fingerprint : undefined,
    next,
    owner_uid: typeof owner === 'string' ? owner : undefined,
    isRevoked: row['revoked_at'] !== null,
  };
}
