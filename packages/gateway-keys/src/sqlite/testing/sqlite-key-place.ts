import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { join } from 'node:path';
import { DatabaseSync, type DatabaseSyncOptions, type SQLInputValue } from 'node:sqlite';
import type { KeyBounds, KeyPlace } from '../../testing/key-place.ts';
import type { StatementFailures } from '../../testing/statement-failures.ts';
import { EmbeddedKeyStore, startKeyWorker, type KeyCalls } from '../embedded-key-store.ts';
import type { KeyWorkerCall } from '../key-worker.ts';
import { SqliteKeyStore, type SqliteKeyStoreOptions } from '../sqlite-key-store.ts';

/** A file whose stores have a worker thread each, as in a gateway and its commands. */
export function openThreadedPlace(bounds: KeyBounds = {}): Promise<KeyPlace> {
  return openPlace((path) => startKeyWorker(path, bounds));
}

/** A place for one store, without threads and files, for tests that open hundreds. */
export async function openMemoryPlace(): Promise<KeyPlace> {
  return { open: () => new EmbeddedKeyStore(':memory:', directCalls(':memory:', {})), async [Symbol.asyncDispose]() {} };
}

export function openFailingPlace(failures: StatementFailures): Promise<KeyPlace> {
  const openDatabase = (path: string, options: DatabaseSyncOptions) => new FailingDatabase(path, options, failures);
  return openPlace((path) => directCalls(path, { openDatabase }));
}

async function openPlace(open: (path: string) => KeyCalls): Promise<KeyPlace> {
  const folder = await temporaryFolder('keys');
  const path = join(folder.path, 'gateway-keys.db');
  return {
    open: () => new EmbeddedKeyStore(path, open(path)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** As the worker does it: the first call opens the file, and one that fails is tried again by the next. */
function directCalls(path: string, options: SqliteKeyStoreOptions): KeyCalls {
  let store: SqliteKeyStore | undefined;
  return {
    async call(argument) {
      const { method, args } = argument as KeyWorkerCall;
      store ??= new SqliteKeyStore(path, options);
      return (store[method] as (...args: readonly unknown[]) => unknown).apply(store, [...args]);
    },
    async [Symbol.asyncDispose]() {
      store?.[Symbol.dispose]();
    },
  };
}

class FailingDatabase extends DatabaseSync {
  readonly #failures: StatementFailures;

  constructor(path: string, options: DatabaseSyncOptions, failures: StatementFailures) {
    super(path, options);
    this.#failures = failures;
  }

  override exec(sql: string): void {
    this.#failures.statement();
    super.exec(sql);
  }

  override prepare(sql: string): ReturnType<DatabaseSync['prepare']> {
    return new Proxy(super.prepare(sql), {
      get:
        (statement, name: 'get' | 'all' | 'run') =>
        (...args: SQLInputValue[]) => {
          this.#failures.statement();
          return statement[name](...args);
        },
    });
  }
}
