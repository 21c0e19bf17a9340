import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { startModuleThread } from '@vitrine/worker-threads/testing/module-thread';
import { join } from 'node:path';
import { DatabaseSync, type DatabaseSyncOptions, type SQLInputValue } from 'node:sqlite';
import type { KeyBounds } from '../../key-store.ts';
import type { KeyPlace, OpenedKeyStore } from '../../testing/key-place.ts';
import type { StatementFailures } from '../../testing/statement-failures.ts';
import { EmbeddedKeyStore } from '../embedded-key-store.ts';

/** A file whose stores are on worker threads, like in a gateway. */
export function openThreadedPlace(bounds: KeyBounds = {}): Promise<KeyPlace> {
  return openPlace((path) => {
    const thread = startModuleThread();
    const store = new EmbeddedKeyStore({ path, ...bounds, thread });
    const dispose = store[Symbol.asyncDispose].bind(store);
    return Object.assign(store, {
      async [Symbol.asyncDispose]() {
        await dispose();
        await thread[Symbol.asyncDispose]();
      },
    });
  });
}

/** A place for one store, without threads and files, for tests that open hundreds. */
export async function openMemoryPlace(): Promise<KeyPlace> {
  return { open: () => new EmbeddedKeyStore({ path: ':memory:' }), async [Symbol.asyncDispose]() {} };
}

export function openFailingPlace(failures: StatementFailures): Promise<KeyPlace> {
  const openDatabase = (path: string, options: DatabaseSyncOptions) => new FailingDatabase(path, options, failures);
  return openPlace((path) => new EmbeddedKeyStore({ path, openDatabase }));
}

async function openPlace(open: (path: string) => OpenedKeyStore): Promise<KeyPlace> {
  const folder = await temporaryFolder('keys');
  const path = join(folder.path, 'gateway-keys.db');
  return { open: () => open(path), [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
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
