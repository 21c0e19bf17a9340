import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import { pepperProblem, type StoredPeppers } from '@vitrine/credentials/pepper-problem';
import type { NewTokenHash, TokenHash } from '@vitrine/credentials/token-hashes';
import { RetentionClock, type RetentionRun } from '@vitrine/lifecycle/retention-clock';
import { advanceRetention } from '@vitrine/sqlite/advance-retention';
import { fileAt, foreignFile } from '@vitrine/sqlite/database-file';
import type { Removed } from '@vitrine/telemetry/retention-log';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { keepDatabasePrivate, makePrivateFile } from '@vitrine/sqlite/private-file';
import { statSync } from 'node:fs';
import { DatabaseSync, type DatabaseSyncOptions, type SQLInputValue } from 'node:sqlite';
import type { AuditEventPage, AuditQuery } from '../audit-event-page.ts';
import type { AuditEvent } from '../audit-log.ts';
import { storedKeyOf, type KeyRow } from '../key-row.ts';
import {
  KEY_BOUNDS,
  tokenColumns,
  type CreateOutcome,
  type KeyBounds,
  type KeyChanges,
  type KeyTokens,
  type KeyUpdate,
  type KeyUse,
  type NewKey,
  type TokenMove,
  type UpdateOutcome,
} from '../key-store.ts';
import { insertAuditEvents, listAuditEvents, removeAuditEvents } from './audit-rows.ts';
import {
  findKeyRow,
  insertKeyRow,
  listKeyRows,
  readStoredPeppers,
  recordPeppers,
  SELECT_ACTIVE_KEYS,
  updateKeyRow,
} from './key-row.ts';
import { createKeyTables, inTransaction, KEY_DATABASE } from './key-tables.ts';

const IN_MEMORY = ':memory:';
/** How long a call waits for another process's lock: the command line writes while a gateway is running. */
const BUSY_TIMEOUT_MS = 2_000;

export interface SqliteKeyStoreOptions extends KeyBounds {
  /** Tests make its statements fail. */
  readonly openDatabase?: (path: string, options: DatabaseSyncOptions) => DatabaseSync;
}

/** Gateway keys and audit events in one SQLite file, which several processes may have open. Synchronous: it runs on a worker thread
 *  (`key-module.ts`). Its methods are those of `KeyStore` and `AuditLog`. */
export class SqliteKeyStore implements Disposable {
  readonly #database: DatabaseSync;
  readonly #bounds: Required<KeyBounds>;
  readonly #retention = new RetentionClock(() => performance.now());
  readonly #path: string;
  readonly #file: string;

  constructor(path: string, { openDatabase, ...bounds }: SqliteKeyStoreOptions = {}) {
    this.#bounds = { ...KEY_BOUNDS, ...bounds };
    this.#path = path;
    // Opening a database of another program would change it.
    const foreign = foreignFile(path, KEY_DATABASE);
    if (foreign !== undefined) throw new Error(foreign);
    if (path !== IN_MEMORY) {
      makePrivateFile(path);
      keepDatabasePrivate(path);
    }
    const options = { timeout: BUSY_TIMEOUT_MS };
    this.#database = openDatabase?.(path, options) ?? new DatabaseSync(path, options);
    try {
      // Keys are few and important, so a confirmed change must survive a power failure.
      this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      createKeyTables(this.#database);
      this.#file = path === IN_MEMORY ? path : (fileAt(path) ?? '');
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Whether another file has the path now. Throws while there is none, or an empty one: a backup is being restored, and a new database
   *  would collide with it. */
  get isReplaced(): boolean {
    if (this.#path === IN_MEMORY || fileAt(this.#path) === this.#file) return false;
    if (statSync(this.#path).size === 0) throw new Error('the file has been replaced by an empty one');
    return true;
  }

  list(tenant: Tenant | undefined): KeyRow[] {
    return listKeyRows(this.#database, tenant);
  }

  find(id: string, tenant: Tenant | undefined): KeyRow | undefined {
    return findKeyRow(this.#database, id, tenant);
  }

  hasId(id: string): boolean {
    return this.#count('SELECT count(*) AS n FROM gateway_keys WHERE id = ?', id) > 0;
  }

  create(key: NewKey, known: readonly NewTokenHash[], event: AuditEvent, idAsToken: readonly TokenHash[] = []): CreateOutcome {
    return this.#transaction((): CreateOutcome => {
      const active = this.#count('SELECT count(*) AS n FROM gateway_keys WHERE revoked_at IS NULL');
      const { maxActiveKeys } = this.#bounds;
      if (active >= maxActiveKeys) return { kind: 'full', maxActiveKeys };
      if (this.hasId(key.id) || this.#isKnown(idAsToken)) return { kind: 'id_taken' };
      if (this.#isKnown(known)) return { kind: 'token_taken' };
      const problem = pepperProblem(known, this.storedPeppers());
      if (problem !== undefined) return { kind: 'pepper_mismatch', problem };
      const revision = this.#nextRevision();
      insertKeyRow(this.#database, key, revision);
      this.#keepHashes(key.id, known);
      insertAuditEvents(this.#database, [event]);
      return { kind: 'created', row: { ...key, last_used_at: undefined, revision } };
    });
  }

  update(id: string, tenant: Tenant | undefined, { token, ...columns }: KeyUpdate, event: AuditEvent): UpdateOutcome {
    return this.#transaction((): UpdateOutcome => {
      const row = this.find(id, tenant);
      if (row === undefined) return { kind: 'not_found' };
      if (token !== undefined) {
        if (this.#isKnown(token)) return { kind: 'token_taken' };
        const problem = pepperProblem(token, this.storedPeppers());
        if (problem?.kind === 'different') return { kind: 'pepper_mismatch', problem };
        this.#keepHashes(id, token);
      }
      const changes = { ...columns, ...tokenColumns(token), revision: this.#nextRevision() };
      updateKeyRow(this.#database, id, changes);
      insertAuditEvents(this.#database, [event]);
      return { kind: 'updated', row: { ...row, ...changes } };
    });
  }

  keepTokens(keys: readonly KeyTokens[]): string[] {
    return this.#transaction(() => {
      const taken = keys.filter((key) => this.#isTakenByOther(key));
      const known = keys.flatMap((key) => key.known);
      if (pepperProblem(known, this.storedPeppers()) !== undefined) return [];
      for (const { id, known } of keys) this.#keepHashes(id, known);
      return taken.map(({ id }) => id);
    });
  }

  changes(since: number): KeyChanges {
    // One snapshot, because a change committed between these reads would be skipped forever.
    const read = (): KeyChanges => {
      const revoked = 'SELECT id, revision FROM gateway_keys WHERE revision > ? AND revoked_at IS NOT NULL';
      return {
        store: this.#file,
        revision: this.#nextRevision() - 1,
        active: this.#database.prepare(`${SELECT_ACTIVE_KEYS} AND revision > ?`).all(since).map(storedKeyOf),
        revoked: (since === 0 ? [] : this.#database.prepare(revoked).all(since)).map(({ id, revision }) => ({
          id: String(id),
          revision: Number(revision),
        })),
      };
    };
    return inTransaction(this.#database, read, 'BEGIN');
  }

  markUsed(uses: readonly KeyUse[]): void {
    const later = 'UPDATE gateway_keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?';
    this.#transaction(() => {
      const update = this.#database.prepare(later);
      for (const { id, at } of uses) update.run(at, id, at);
    });
  }

  moveTokens(moves: readonly TokenMove[]): KeyRow[] {
    const set =
      'UPDATE gateway_keys SET pepper_version = ?, token_mac = ?, revision = ? WHERE id = ? AND token_mac = ? AND revoked_at IS NULL';
    return this.#transaction(() => {
      const { recorded } = this.storedPeppers();
      const update = this.#database.prepare(set);
      const moved = moves.filter(({ id, from, to }) => {
        const isSafe = pepperProblem([to], { recorded, used: [] }) === undefined && !this.#isTakenByOther({ id, known: [to] });
        if (!isSafe) return false;
        const { changes } = update.run(to.pepper_version, to.token_mac, this.#nextRevision(), id, from.token_mac);
        if (Number(changes) > 0) this.#keepHashes(id, [to]);
        return Number(changes) > 0;
      });
      return moved.flatMap(({ id }) => this.find(id, undefined) ?? []);
    });
  }

  recordPeppers(peppers: readonly PepperIdentity[]): void {
    this.#transaction(() => recordPeppers(this.#database, peppers));
  }

  storedPeppers(): StoredPeppers {
    return readStoredPeppers(this.#database);
  }

  appendAudit(events: readonly AuditEvent[]): void {
    this.#transaction(() => insertAuditEvents(this.#database, events));
  }

  listAudit(query: AuditQuery): AuditEventPage {
    return listAuditEvents(this.#database, query);
  }

  advanceRetention(nowMs: number): RetentionRun {
    const newestMs = () => {
      const newest = this.#database.prepare('SELECT max(at) AS newest FROM audit_events').get()?.['newest'];
      return typeof newest === 'number' ? newest : undefined;
    };
    const loop = { name: 'audit_events', newestMs };
    return this.#transaction(() => advanceRetention(this.#database, this.#retention, loop, nowMs));
  }

  removeAuditBefore(at: number): Removed[] {
    return this.#transaction(() => removeAuditEvents(this.#database, at, this.#bounds.maxDenials));
  }

  /** Differs from the last result when another connection has written to the file, or another file has its path. */
  dataVersion(): string {
    return `${this.#file} ${String(this.#database.prepare('PRAGMA data_version').get()?.['data_version'])}`;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** Whether a key of any tenant has or had this token. */
  #isKnown(hashes: readonly TokenHash[]): boolean {
    const same = 'SELECT count(*) AS n FROM token_hashes WHERE token_mac = ?';
    return hashes.some(({ token_mac }) => this.#count(same, token_mac) > 0);
  }

  #isTakenByOther({ id, known }: KeyTokens): boolean {
    const holder = this.#database.prepare('SELECT 1 FROM token_hashes WHERE token_mac = ? AND key_id <> ?');
    return known.some(({ token_mac }) => holder.get(token_mac, id) !== undefined);
  }

  /** Under every pepper, because another process may be configured with only some of them. Records the peppers too. */
  #keepHashes(id: string, hashes: readonly NewTokenHash[]): void {
    const keep = this.#database.prepare('INSERT OR IGNORE INTO token_hashes VALUES (?, ?, ?)');
    for (const { token_mac, pepper_version } of hashes) keep.run(token_mac, pepper_version, id);
    recordPeppers(this.#database, hashes);
  }

  /** Writers of all processes take it inside `BEGIN IMMEDIATE`, so revisions are committed in order. */
  #nextRevision(): number {
    return 1 + this.#count('SELECT coalesce(max(revision), 0) AS n FROM gateway_keys');
  }

  #count(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#database.prepare(sql).get(...values)?.['n'] ?? 0);
  }

  #transaction<T>(work: () => T): T {
    return inTransaction(this.#database, work);
  }
}
