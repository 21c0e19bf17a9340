import type { TokenHash } from '@vitrine/credentials/token-hashes';
import { WorkerCalls } from '@vitrine/worker-threads/worker-calls';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
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
} from '../key-store.ts';
import { keyStoreUnavailable } from './key-store-fault.ts';
import type { KeyWorkerCall, KeyWorkerData, KeyWorkerMethod } from './key-worker.ts';
import type { SqliteKeyStore, SqliteKeyStoreOptions } from './sqlite-key-store.ts';

/** A script may create many keys at once; each takes about a millisecond. */
const MAX_PENDING_CALLS = 1_024;
/** How often the file is polled for writes of another process: 20 µs of the worker thread. */
const WATCH_INTERVAL_MS = 1_000;

/** Stands for the version of a file that cannot be read. */
const GONE = 'gone';

/** Calls of the thread that has the file. */
export type KeyCalls = Pick<WorkerCalls, 'call'> & AsyncDisposable;

/** Gateway keys and audit events of a single machine: one SQLite file on a worker thread, which the first call starts. Several
 *  processes may use the file at once. */
export class EmbeddedKeyStore implements KeyStore, AuditLog, AsyncDisposable {
  readonly #path: string;
  readonly #calls: KeyCalls;

  constructor(path: string, calls: KeyCalls = startKeyWorker(path)) {
    this.#path = path;
    this.#calls = calls;
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
    known: readonly TokenHash[],
    event: AuditEvent,
    idAsToken: readonly TokenHash[] = [],
  ): Promise<CreateOutcome> {
    return this.#call('create', key, known, event, idAsToken);
  }

  rotate(
    id: string,
    tenant: Tenant | undefined,
    known: readonly [TokenHash, ...TokenHash[]],
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

  appendAudit(events: readonly AuditEvent[]): Promise<void> {
    return this.#call('appendAudit', events);
  }

  listAudit(query: AuditQuery): Promise<AuditEventPage> {
    return this.#call('listAudit', query);
  }

  async removeAuditBefore(at: number): Promise<number> {
    return existsSync(this.#path) ? this.#call('removeAuditBefore', at) : 0;
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
  }

  async #call<M extends KeyWorkerMethod>(
    method: M,
    ...args: Parameters<SqliteKeyStore[M]>
  ): Promise<ReturnType<SqliteKeyStore[M]>> {
    try {
      return (await this.#calls.call({ method, args } satisfies KeyWorkerCall)) as ReturnType<SqliteKeyStore[M]>;
    } catch (cause) {
      throw keyStoreUnavailable(this.#path, cause);
    }
  }
}

/** `options`: bounds that tests make small. */
export function startKeyWorker(path: string, options: Omit<SqliteKeyStoreOptions, 'openDatabase'> = {}): WorkerCalls {
  const url = new URL('./key-worker.ts', import.meta.url);
  const workerData = { path, options } satisfies KeyWorkerData;
  return new WorkerCalls(
    () => new Worker(url, { workerData, resourceLimits: { maxYoungGenerationSizeMb: 4 } }),
    MAX_PENDING_CALLS,
  );
}
