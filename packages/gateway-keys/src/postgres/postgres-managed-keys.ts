import type { TokenHash } from '@vitrine/credentials/token-hashes';
import { isFault } from '@vitrine/faults/fault';
import type { Row } from '@vitrine/postgres/connection';
import { addressText } from '@vitrine/postgres/dsn';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import { randomUUID } from 'node:crypto';
import { keyStoreUnavailable } from '../key-store-fault.ts';
import type {
  ManagedKey,
  ManagedKeyFields,
  ManagedKeyRevision,
  ManagedKeyRows,
  OwnedKey,
  RegisterOutcome,
  TokenOfKey,
  TokenOutcome,
} from '../managed-key.ts';
import { insertAuditEvents } from './audit-rows.ts';
import { lockKeys, nextRevision } from './key-changes.ts';
import { countActiveKeys, hasKeyId, INSERT_KEY, keyRowOf, keyValues } from './key-row.ts';
import { MAX_ACTIVE_KEYS } from './postgres-key-store.ts';
import { moveTokens } from './move-tokens.ts';
import { storedPepperProblem } from './stored-peppers.ts';
import { isKnown, keepHashes } from './token-hash-rows.ts';

const OPERATOR = 'operator';
/** Of a row that the resource owns, with the parameters of `OwnedKey` first. */
const OWNED = 'id = $1 AND owner_uid = $2';
/** What every change sets, with the next two parameters. */
const CHANGED = 'revision = $3, changed_by = $4';
const FIELDS = `org_id = $5, workspace_id = $6, name = $7, description = $8, role = $9, permissions = $10, plan = $11,
  managed_resource = $12`;
const PROMOTED = `pepper_version = next_pepper_version, token_mac = next_token_mac, next_pepper_version = NULL, next_token_mac = NULL,
  previous_pepper_version = CASE WHEN revoked_at IS NULL THEN pepper_version END,
  previous_token_mac = CASE WHEN revoked_at IS NULL THEN token_mac END,
  previous_until = CASE WHEN revoked_at IS NULL THEN now() + $5 * interval '1 millisecond' END,
  revoked_at = NULL`;
const SELECT_KEY = `SELECT k.*, p.pepper_fingerprint FROM gateway_keys AS k
  LEFT JOIN pepper_fingerprints AS p ON p.purpose = 'gateway_keys' AND p.pepper_version = k.pepper_version WHERE k.id = $1`;
/** Another key's, or one that this key has no more. */
const IS_TAKEN = 'SELECT FROM token_hashes WHERE token_mac = ANY ($1::bytea[]) AND key_id <> $2 LIMIT 1';

type Action = 'create' | 'update' | 'rotate' | 'revoke' | 'adopt' | 'release';

/** Rows of keys in Postgres that resources own. */
export class PostgresManagedKeys implements ManagedKeyRows {
  readonly #pool: PostgresPool;
  readonly #transactions: Pick<PostgresPool, 'transaction'>;
  readonly #maxActiveKeys: number;
  readonly #writer = `operator ${randomUUID()}`;

  /** Reads from `pool`, and writes by `transactions`, which may refuse what is begun by who leads no more. */
  constructor(pool: PostgresPool, transactions: Pick<PostgresPool, 'transaction'> = pool, maxActiveKeys = MAX_ACTIVE_KEYS) {
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

  register(key: OwnedKey, fields: ManagedKeyFields, token: TokenOfKey): Promise<RegisterOutcome> {
    return this.#change(async (database) => {
      if ((await countActiveKeys(database)) >= this.#maxActiveKeys) return 'full';
      if (await hasKeyId(database, key.id)) return 'id_taken';
      const macs = token.map(({ token_mac }) => Buffer.from(token_mac));
      if ((await database.query(IS_TAKEN, [macs, key.id])).length > 0) return 'token_taken';
      if ((await storedPepperProblem(database, token)) !== undefined) return 'pepper_mismatch';
      const revision = await nextRevision(database, this.#writer);
      const now = Date.now();
      const row = { ...fields, id: key.id, created_by: OPERATOR, managed_by: OPERATOR, created_at: now, ...token[0] };
      await database.execute(INSERT_KEY, keyValues(row, revision, this.#writer));
      await database.execute('UPDATE gateway_keys SET owner_uid = $2 WHERE id = $1', [key.id, key.owner_uid]);
      await keepHashes(database, [{ id: key.id, known: token }]);
      await audit(database, 'create', key, fields);
      return 'registered';
    });
  }

  update(key: OwnedKey, fields: ManagedKeyFields): Promise<boolean> {
    return this.#write('update', key, `${FIELDS} WHERE ${OWNED} AND revoked_at IS NULL`, fieldValues(fields));
  }

  adopt(key: OwnedKey, fields: ManagedKeyFields): Promise<boolean> {
    const free =
      'id = $1 AND owner_uid IS NULL AND managed_by IS NULL AND org_id = $5 AND workspace_id = $6 AND revoked_at IS NULL';
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
    if (row !== undefined) await audit(database, 'rotate', key, row);
    return row !== undefined;
  }

  #write(action: Action, key: OwnedKey, set: string, values: readonly unknown[]): Promise<boolean> {
    return this.#change(async (database) => {
      const row = await this.#set(database, key, set, values);
      if (row !== undefined) await audit(database, action, key, row);
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
    return this.#call(() =>
      this.#transactions.transaction(async (database) => {
        await lockKeys(database);
        return await change(database);
      }),
    );
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
  const { org_id, workspace_id, name, description, role, permissions, plan, managed_resource } = fields;
  return [org_id, workspace_id, name, description, role, permissions, plan, managed_resource];
}

async function audit(database: Transaction, action: Action, key: OwnedKey, { org_id, workspace_id }: TenantRow): Promise<void> {
  const event = { at: Date.now(), actor: OPERATOR, action: `gateway_key.${action}`, target: key.id, outcome: 'allow' } as const;
  await insertAuditEvents(database, [{ ...event, reason: '', correlation_id: key.owner_uid, org_id, workspace_id }]);
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
