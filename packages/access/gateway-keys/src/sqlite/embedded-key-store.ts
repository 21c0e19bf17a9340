import type { PepperIdentity } from '@vitrine/credentials/pepper-identity';
import type { StoredPeppers } from '@vitrine/credentials/pepper-problem';
import type { NewTokenHash, TokenHash } from '@vitrine/credentials/token-hashes';
import type { RetentionRun } from '@vitrine/lifecycle/retention-clock';
import type { Removed } from '@vitrine/telemetry/retention-log';
import { CallQueue } from '@vitrine/worker-threads/call-queue';
import { ThreadModules, type ModuleThread } from '@vitrine/worker-threads/thread-modules';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { existsSync } from 'node:fs';
import type { AuditEventPage, AuditQuery } from '../audit-event-page.ts';
import type { AuditEvent } from '../audit-event.ts';
import type { KeyRow } from '../gateway-key.ts';
import type { AuditLog } from '../audit-log.ts';
import type {
  CreateOutcome,
  KeyChanges,
  KeyStore,
  KeyTokens,
  KeyUse,
  NewKey,
  RevokeOutcome,
  RotateOutcome,
  TokenMove,
} from '../key-store.ts';
import { keyStoreUnavailable } from '../key-store-fault.ts';
import type { KeyCall, KeyMethod, KeyModuleOptions } from './key-module.ts';
import type { SqliteKeyStore } from './sqlite-key-store.ts';

/** A script may create many keys at once; each takes about a millisecond. */
const MAX_WAITING_CALLS = 1_024;
/** How often the file is polled for writes of another process: 20 µs of the thread. */
const WATCH_INTERVAL_MS = 1_000;

/** Stands for the version of a file that cannot be read. */
const GONE = 'gone';

export interface EmbeddedKeyStoreOptions extends KeyModuleOptions {
  /** A worker thread that has the file beside its other work. Without one, calls block the caller's thread: for commands. */
  readonly thread?: ModuleThread | undefined;
}

/** Gateway keys and audit events of a single machine: one SQLite file, which the first call opens. Several processes may use the file at
 *  once. */
export class EmbeddedKeyStore implements KeyStore, AuditLog, AsyncDisposable {
  readonly #path: string;
  readonly #calls: CallQueue;
  readonly #ownThread = new ThreadModules();

  constructor({ thread, ...options }: EmbeddedKeyStoreOptions) {
    this.#path = options.path;
    const source = { module: new URL('./key-module.ts', import.meta.url).href, options };
    this.#calls = new CallQueue((call) => (thread ?? this.#ownThread).callModule(source, call), MAX_WAITING_CALLS);
  }

  list(tenant: Tenant | undefined): Promise<KeyRow[]> {
    return this.#call('list', tenant);
  }

  find(id: string, tenant: Tenant | undefined): Promise<KeyRow | undefined> {
    return this.#call('find', id, tenant);
  }

  hasId(id: string): Promise<boolean> {
    return this.#call('hasId', id);
  }

  create(
    key: NewKey,
    known: readonly NewTokenHash[],
    event: AuditEvent,
    idAsToken: readonly TokenHash[] = [],
  ): Promise<CreateOutcome> {
    return this.#call('create', key, known, event, idAsToken);
  }

  rotate(
    id: string,
    tenant: Tenant | undefined,
    known: readonly [NewTokenHash, ...NewTokenHash[]],
    event: AuditEvent,
  ): Promise<RotateOutcome> {
    return this.#call('rotate', id, tenant, known, event);
  }

  revoke(id: string, tenant: Tenant | undefined, event: AuditEvent): Promise<RevokeOutcome> {
    return this.#call('revoke', id, tenant, event);
  }

  keepTokens(keys: readonly KeyTokens[]): Promise<string[]> {
    return this.#call('keepTokens', keys);
  }

  changes(since: number): Promise<KeyChanges> {
    return this.#call('changes', since);
  }

  markUsed(uses: readonly KeyUse[]): Promise<void> {
    return this.#call('markUsed', uses);
  }

  moveTokens(moves: readonly TokenMove[]): Promise<KeyRow[]> {
    return this.#call('moveTokens', moves);
  }

  recordPeppers(peppers: readonly PepperIdentity[]): Promise<void> {
    return this.#call('recordPeppers', peppers);
  }

  storedPeppers(): Promise<StoredPeppers> {
    return this.#call('storedPeppers');
  }

  appendAudit(events: readonly AuditEvent[]): Promise<void> {
    return this.#call('appendAudit', events);
  }

  listAudit(query: AuditQuery): Promise<AuditEventPage> {
    return this.#call('listAudit', query);
  }

  /** By the clock of this machine. */
  async advanceRetention(): Promise<RetentionRun | undefined> {
    return existsSync(this.#path) ? this.#call('advanceRetention', Date.now()) : undefined;
  }

  async removeAuditBefore(at: number): Promise<Removed[]> {
    return existsSync(this.#path) ? this.#call('removeAuditBefore', at) : [];
  }

  watch(onChange: () => void): Disposable {
    let last: string | undefined;
    let isPolling = false;
    const poll = async () => {
      if (isPolling) return;
      isPolling = true;
      try {
        const version = await this.#call('dataVersion');
        if (last !== undefined && version !== last) onChange();
        last = version;
      } catch {
        // The watcher then reads the changes, and at once gets the fault with the reason.
        if (last !== GONE) onChange();
        last = GONE;
      } finally {
        isPolling = false;
      }
    };
    const timer = setInterval(() => void poll(), WATCH_INTERVAL_MS);
    timer.unref();
    void poll();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#calls[Symbol.asyncDispose]();
    await this.#ownThread[Symbol.asyncDispose]();
  }

  async #call<M extends KeyMethod>(method: M, ...args: Parameters<SqliteKeyStore[M]>): Promise<ReturnType<SqliteKeyStore[M]>> {
    try {
      return (await this.#calls.call({ method, args } satisfies KeyCall)) as ReturnType<SqliteKeyStore[M]>;
    } catch (cause) {
      throw keyStoreUnavailable(this.#path, cause);
    }
  }
}
