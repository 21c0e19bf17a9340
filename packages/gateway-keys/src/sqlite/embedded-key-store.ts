import type { TokenHash } from '@vitrine/credentials/token-hashes';
import { Fault, messageOf } from '@vitrine/faults/fault';
import { WorkerCalls } from '@vitrine/worker-threads/worker-calls';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { Worker } from 'node:worker_threads';
import type { AuditEventPage, AuditQuery } from '../audit-event-page.ts';
import type { AuditEvent } from '../audit-event.ts';
import type { KeyRow } from '../gateway-key.ts';
import type {
  AuditEvents,
  AuditStore,
  CreateOutcome,
  KeyChanges,
  KeyStore,
  KeyTokens,
  NewKey,
  RevokeOutcome,
  RotateOutcome,
} from '../key-store.ts';
import type { KeyWorkerCall, KeyWorkerMethod } from './key-worker.ts';
import type { SqliteKeyStore } from './sqlite-key-store.ts';

/** A script that makes keys all at once: one takes about a millisecond. */
const MAX_PENDING_CALLS = 1_024;
/** How often the file is asked whether another process has written to it: 20 µs of the worker thread. */
const WATCH_INTERVAL_MS = 1_000;

/** In the place of the version of a file that cannot be asked. */
const GONE = 'gone';

/** Gateway keys and audit events of a single machine: one SQLite file on a worker thread, which the first question starts. Several
 *  processes may use the file at once. */
export class EmbeddedKeyStore implements KeyStore, AuditStore, AuditEvents, AsyncDisposable {
  readonly #path: string;
  readonly #calls: WorkerCalls;

  constructor(path: string) {
    this.#path = path;
    this.#calls = new WorkerCalls(
      () =>
        new Worker(new URL('./key-worker.ts', import.meta.url), {
          workerData: { path },
          resourceLimits: { maxYoungGenerationSizeMb: 4 },
        }),
      MAX_PENDING_CALLS,
    );
  }

  list(tenant: Tenant | undefined): Promise<KeyRow[]> {
    return this.#ask('list', tenant);
  }

  find(id: string, tenant: Tenant | undefined): Promise<KeyRow | undefined> {
    return this.#ask('find', id, tenant);
  }

  hasId(id: string): Promise<boolean> {
    return this.#ask('hasId', id);
  }

  create(
    key: NewKey,
    known: readonly TokenHash[],
    event: AuditEvent,
    idAsToken: readonly TokenHash[] = [],
  ): Promise<CreateOutcome> {
    return this.#ask('create', key, known, event, idAsToken);
  }

  rotate(
    id: string,
    tenant: Tenant | undefined,
    known: readonly [TokenHash, ...TokenHash[]],
    event: AuditEvent,
  ): Promise<RotateOutcome> {
    return this.#ask('rotate', id, tenant, known, event);
  }

  revoke(id: string, tenant: Tenant | undefined, event: AuditEvent): Promise<RevokeOutcome> {
    return this.#ask('revoke', id, tenant, event);
  }

  keepTokens(keys: readonly KeyTokens[]): Promise<string[]> {
    return this.#ask('keepTokens', keys);
  }

  changes(since: number): Promise<KeyChanges> {
    return this.#ask('changes', since);
  }

  markUsed(uses: readonly { readonly id: string; readonly at: number }[]): Promise<void> {
    return this.#ask('markUsed', uses);
  }

  appendAudit(events: readonly AuditEvent[]): Promise<void> {
    return this.#ask('appendAudit', events);
  }

  listAudit(query: AuditQuery): Promise<AuditEventPage> {
    return this.#ask('listAudit', query);
  }

  removeAuditBefore(at: number): Promise<number> {
    return this.#ask('removeAuditBefore', at);
  }

  watch(onChange: () => void): Disposable {
    let last: string | undefined;
    let isAsking = false;
    const look = async () => {
      if (isAsking) return;
      isAsking = true;
      try {
        const version = await this.#ask('dataVersion');
        if (last !== undefined && version !== last) onChange();
        last = version;
      } catch {
        // Whoever watches then asks for changes, and learns there, at once, that the store is gone and why.
        if (last !== GONE) onChange();
        last = GONE;
      } finally {
        isAsking = false;
      }
    };
    const timer = setInterval(() => void look(), WATCH_INTERVAL_MS);
    timer.unref();
    void look();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#calls[Symbol.asyncDispose]();
  }

  async #ask<M extends KeyWorkerMethod>(
    method: M,
    ...args: Parameters<SqliteKeyStore[M]>
  ): Promise<ReturnType<SqliteKeyStore[M]>> {
    try {
      return (await this.#calls.call({ method, args } satisfies KeyWorkerCall)) as ReturnType<SqliteKeyStore[M]>;
    } catch (cause) {
      const reason = messageOf(cause);
      throw new Fault('key_store_unavailable', {
        say: 'gateway key store is unavailable',
        log: { path: this.#path, reason },
        cause,
      });
    }
  }
}
