import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import type { StoredPeppers } from '@vitrine/credentials/pepper-problem';
import { recordPeppers } from '@vitrine/credentials/postgres/pepper-rows';
import type { NewTokenHash, TokenHash } from '@vitrine/credentials/token-hashes';
import { RetentionClock, type RetentionRun } from '@vitrine/lifecycle/retention-clock';
import { advanceRetention } from '@vitrine/postgres/advance-retention';
import type { Queryable } from '@vitrine/postgres/connection';
import { addressText } from '@vitrine/postgres/dsn';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';
import type { Removed } from '@vitrine/telemetry/retention-log';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { randomUUID } from 'node:crypto';
import type { AuditEventPage, AuditQuery } from '../audit-event-page.ts';
import type { AuditEvent, AuditLog } from '../audit-log.ts';
import type { KeyRow } from '../key-row.ts';
import {
  KEY_BOUNDS,
  keyStoreUnavailable,
  tokenColumns,
  type CreateOutcome,
  type KeyBounds,
  type KeyChanges,
  type KeyStore,
  type KeyTokens,
  type KeyUpdate,
  type KeyUse,
  type NewKey,
  type TokenMove,
  type UpdateOutcome,
} from '../key-store.ts';
import { AUDIT_RETENTION, insertAuditEvents, listAuditEvents, removeAuditEvents } from './audit-rows.ts';
import { changeKeys, nextRevision, readChanges, watchKeys, type KeyWatch } from './key-changes.ts';
import { countActiveKeys, findKeyRow, hasKeyId, insertKeyRows, listKeyRows, updateKeyRow } from './key-row.ts';
import { isKnown, keepHashes, moveTokens, readStoredPeppers, storedPepperProblem, takenByOthers } from './token-hash-rows.ts';

/** Gateway keys and audit events in Postgres, for any number of processes. Changes of keys wait for each other. The pool belongs to the caller and
 *  outlives the store. */
export class PostgresKeyStore implements KeyStore, AuditLog, AsyncDisposable {
  readonly #pool: PostgresPool;
  readonly #bounds: Required<KeyBounds>;
  readonly #retention = new RetentionClock(() => performance.now());
  /** Distinguishes own changes from those of other processes. */
  readonly #writer = randomUUID();
  readonly #watches = new Set<KeyWatch>();

  constructor(pool: PostgresPool, bounds: KeyBounds = {}) {
    this.#pool = pool;
    this.#bounds = { ...KEY_BOUNDS, ...bounds };
  }

  list(tenant: Tenant | undefined): Promise<KeyRow[]> {
    return this.#read((database) => listKeyRows(database, tenant));
  }

  find(id: string, tenant: Tenant | undefined): Promise<KeyRow | undefined> {
    return this.#read((database) => findKeyRow(database, id, tenant));
  }

  hasId(id: string): Promise<boolean> {
    return this.#read((database) => hasKeyId(database, id));
  }

  create(
    key: NewKey,
    known: readonly NewTokenHash[],
    event: AuditEvent,
    idAsToken: readonly TokenHash[] = [],
  ): Promise<CreateOutcome> {
    return this.#change(async (database): Promise<CreateOutcome> => {
      const { maxActiveKeys } = this.#bounds;
      if ((await countActiveKeys(database)) >= maxActiveKeys) return { kind: 'full', maxActiveKeys };
      if ((await hasKeyId(database, key.id)) || (await isKnown(database, idAsToken))) return { kind: 'id_taken' };
      if (await isKnown(database, known)) return { kind: 'token_taken' };
      const problem = await storedPepperProblem(database, known);
      if (problem !== undefined) return { kind: 'pepper_mismatch', problem };
      const revision = await nextRevision(database, this.#writer);
      await insertKeyRows(database, [key], revision, this.#writer);
      await keepHashes(database, [{ id: key.id, known }]);
      await insertAuditEvents(database, [event]);
      return { kind: 'created', row: { ...key, last_used_at: undefined, revision } };
    });
  }

  update(id: string, tenant: Tenant | undefined, update: KeyUpdate, event: AuditEvent): Promise<UpdateOutcome> {
    const { token, ...columns } = update;
    return this.#change(async (database): Promise<UpdateOutcome> => {
      const row = await findKeyRow(database, id, tenant);
      if (row === undefined) return { kind: 'not_found' };
      if (token !== undefined) {
        if (await isKnown(database, token)) return { kind: 'token_taken' };
        const problem = await storedPepperProblem(database, token);
        if (problem?.kind === 'different') return { kind: 'pepper_mismatch', problem };
        await keepHashes(database, [{ id, known: token }]);
      }
      const changes = { ...columns, ...tokenColumns(token), revision: await nextRevision(database, this.#writer) };
      await updateKeyRow(database, id, { ...changes, changed_by: this.#writer });
      await insertAuditEvents(database, [event]);
      return { kind: 'updated', row: { ...row, ...changes } };
    });
  }

  keepTokens(keys: readonly KeyTokens[]): Promise<string[]> {
    return this.#change(async (database) => {
      const taken = await takenByOthers(database, keys);
      const known = keys.flatMap((key) => key.known);
      if ((await storedPepperProblem(database, known)) !== undefined) return [];
      await keepHashes(database, keys);
      return taken;
    });
  }

  async changes(since: number): Promise<KeyChanges> {
    // Every change after the state read by a watch is either here or notified.
    await Promise.all([...this.#watches].map((watch) => watch.ready));
    const snapshot = { isolation: 'REPEATABLE READ', readOnly: true } as const;
    return this.#call(() => this.#pool.transaction((transaction) => readChanges(transaction, since), snapshot));
  }

  async markUsed(uses: readonly KeyUse[]): Promise<void> {
    // Sorted, so that two processes lock rows in the same order.
    const later = `UPDATE gateway_keys SET last_used_at = used.at
      FROM (SELECT * FROM unnest($1::text[], $2::timestamptz[]) AS each (id, at) ORDER BY id) AS used
      WHERE gateway_keys.id = used.id AND coalesce(last_used_at < used.at, true)`;
    const sorted = uses.toSorted((left, right) => (left.id < right.id ? -1 : 1));
    await this.#read((database) => database.execute(later, [sorted.map(({ id }) => id), sorted.map(({ at }) => new Date(at))]));
  }

  moveTokens(moves: readonly TokenMove[]): Promise<KeyRow[]> {
    return this.#change((database) => moveTokens(database, moves, this.#writer));
  }

  recordPeppers(peppers: readonly PepperIdentity[]): Promise<void> {
    return this.#change((database) => recordPeppers(database, 'gateway_keys', peppers));
  }

  storedPeppers(): Promise<StoredPeppers> {
    return this.#read(readStoredPeppers);
  }

  appendAudit(events: readonly AuditEvent[]): Promise<void> {
    return this.#read((database) => insertAuditEvents(database, events));
  }

  listAudit(query: AuditQuery): Promise<AuditEventPage> {
    return this.#read((database) => listAuditEvents(database, query));
  }

  /** By the clock of the database. */
  advanceRetention(): Promise<RetentionRun> {
    return this.#call(() => advanceRetention(this.#pool, this.#retention, AUDIT_RETENTION));
  }

  removeAuditBefore(at: number): Promise<Removed[]> {
    return this.#call(() => this.#pool.transaction((database) => removeAuditEvents(database, at, this.#bounds.maxDenials)));
  }

  watch(onChange: () => void): Disposable {
    const watch = watchKeys(this.#pool, this.#writer, onChange);
    this.#watches.add(watch);
    return { [Symbol.dispose]: () => void watch[Symbol.asyncDispose]() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#watches].map((watch) => watch[Symbol.asyncDispose]()));
  }

  #read<T>(read: (database: Queryable) => Promise<T>): Promise<T> {
    return this.#call(() => read(this.#pool));
  }

  #change<T>(change: (database: Transaction) => Promise<T>): Promise<T> {
    return this.#call(() => changeKeys(this.#pool, change));
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (cause) {
      throw keyStoreUnavailable(addressText(this.#pool.address), cause);
    }
  }
}
