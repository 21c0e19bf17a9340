import type { RetentionRun } from '@vitrine/lifecycle/retention-clock';
import type { Removed } from '@vitrine/telemetry/retention-log';
import { CallQueue } from '@vitrine/worker-threads/call-queue';
import { ThreadModules, type ModuleThread } from '@vitrine/worker-threads/thread-modules';
import { existsSync } from 'node:fs';
import type { AuditLog } from '../audit-log.ts';
import { keyStoreUnavailable, type KeyStore } from '../key-store.ts';
import type { KeyCall, KeyMethod, KeyModuleOptions } from './key-module.ts';
import type { SqliteKeyStore } from './sqlite-key-store.ts';

/** A script may create many keys at once; each takes about a millisecond. */
const MAX_WAITING_CALLS = 1_024;
/** How often the file is polled for writes of another process: 20 µs of the thread. */
const WATCH_INTERVAL_MS = 1_000;

/** The version of an unreadable file. */
const GONE = 'gone';

export interface EmbeddedKeyStoreOptions extends KeyModuleOptions {
  /** A worker thread that serves the file in addition to its other work. Without one, calls block the caller's thread, as in commands. */
  readonly thread?: ModuleThread | undefined;
}

/** Gateway keys and audit events of a single machine: one SQLite file, which the first call opens. Several processes may use the file at
 *  once. */
export class EmbeddedKeyStore implements KeyStore, AuditLog, AsyncDisposable {
  readonly #path: string;
  readonly #calls: CallQueue;
  readonly #ownThread = new ThreadModules();
  readonly list = this.#forward('list');
  readonly find = this.#forward('find');
  readonly hasId = this.#forward('hasId');
  readonly create = this.#forward('create');
  readonly update = this.#forward('update');
  readonly keepTokens = this.#forward('keepTokens');
  readonly changes = this.#forward('changes');
  readonly markUsed = this.#forward('markUsed');
  readonly moveTokens = this.#forward('moveTokens');
  readonly recordPeppers = this.#forward('recordPeppers');
  readonly storedPeppers = this.#forward('storedPeppers');
  readonly appendAudit = this.#forward('appendAudit');
  readonly listAudit = this.#forward('listAudit');

  constructor({ thread, ...options }: EmbeddedKeyStoreOptions) {
    this.#path = options.path;
    const source = { module: new URL('./key-module.ts', import.meta.url).href, options };
    this.#calls = new CallQueue((call) => (thread ?? this.#ownThread).callModule(source, call), MAX_WAITING_CALLS);
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
        // The watcher then reads the changes and gets the fault with the reason at once.
        if (last !== GONE) onChange();
        last = GONE;
      } finally {
        isPolling = false;
      }
    };
    const timer = setInterval(() => void poll(), WATCH_INTERVAL_MS).unref();
    void poll();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#calls[Symbol.asyncDispose]();
    await this.#ownThread[Symbol.asyncDispose]();
  }

  #forward<M extends KeyMethod>(method: M) {
    return (...args: Parameters<SqliteKeyStore[M]>) => this.#call(method, ...args);
  }

  async #call<M extends KeyMethod>(method: M, ...args: Parameters<SqliteKeyStore[M]>): Promise<ReturnType<SqliteKeyStore[M]>> {
    try {
      return (await this.#calls.call({ method, args } satisfies KeyCall)) as ReturnType<SqliteKeyStore[M]>;
    } catch (cause) {
      throw keyStoreUnavailable(this.#path, cause);
    }
  }
}
