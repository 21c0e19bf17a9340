// Entry of the worker thread that stores gateway keys: the proxy's thread never waits for SQLite.
import { invariant } from '@vitrine/faults/invariant';
import { serveCalls } from '@vitrine/worker-threads/serve-calls';
import { makeFolder } from '@vitrine/sqlite/make-folder';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteKeyStore, type SqliteKeyStoreOptions } from './sqlite-key-store.ts';

export interface KeyWorkerData {
  readonly path: string;
  readonly options: SqliteKeyStoreOptions;
}

/** The store's own methods. */
export type KeyWorkerMethod = Exclude<keyof SqliteKeyStore, symbol | 'isReplaced'>;

export interface KeyWorkerCall {
  readonly method: KeyWorkerMethod;
  readonly args: readonly unknown[];
}

invariant(parentPort !== null, 'runs on a worker thread');
const { path, options } = workerData as KeyWorkerData;
makeFolder(dirname(path));
let store = new SqliteKeyStore(path, options);

serveCalls(
  parentPort,
  (argument) => {
    const { method, args } = argument as KeyWorkerCall;
    reopenWhenReplaced();
    return (store[method] as (...args: readonly unknown[]) => unknown).apply(store, [...args]);
  },
  () => store[Symbol.dispose](),
);

/** Restoring a backup puts another file in the place of the open one: changes made there, such as a revocation, would never be seen here,
 *  and changes made here would be lost. */
function reopenWhenReplaced(): void {
  if (!store.isReplaced) return;
  const opened = new SqliteKeyStore(path, options);
  store[Symbol.dispose]();
  store = opened;
}
