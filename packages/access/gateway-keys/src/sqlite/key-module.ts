// The store of gateway keys as a module that a worker thread serves (`ThreadModule`).
import { makeFolder } from '@vitrine/sqlite/make-folder';
import type { ThreadService } from '@vitrine/worker-threads/thread-modules';
import { dirname } from 'node:path';
import { SqliteKeyStore, type SqliteKeyStoreOptions } from './sqlite-key-store.ts';

export interface KeyModuleOptions extends SqliteKeyStoreOptions {
  readonly path: string;
}

/** The store's own methods. */
export type KeyMethod = Exclude<keyof SqliteKeyStore, symbol | 'isReplaced'>;

export interface KeyCall {
  readonly method: KeyMethod;
  readonly args: readonly unknown[];
}

/** The first call opens the file. The next call retries a failure. */
export function openService(options: unknown): ThreadService {
  const { path, ...bounds } = options as KeyModuleOptions;
  let store: SqliteKeyStore | undefined;
  return {
    call(argument) {
      const { method, args } = argument as KeyCall;
      store = currentStore(store, path, bounds);
      return (store[method] as (...args: readonly unknown[]) => unknown).apply(store, [...args]);
    },
    close: () => store?.[Symbol.dispose](),
  };
}

/** Restoring a backup replaces the open file. Changes in the new file, such as a revocation, would never be seen here, and changes made here would
 *  be lost. */
function currentStore(open: SqliteKeyStore | undefined, path: string, bounds: SqliteKeyStoreOptions): SqliteKeyStore {
  if (open?.isReplaced === false) return open;
  makeFolder(dirname(path));
  const opened = new SqliteKeyStore(path, bounds);
  open?.[Symbol.dispose]();
  return opened;
}
