// Entry of the worker thread that keeps gateway keys: the proxy's thread never waits for SQLite.
import { invariant } from '@vitrine/faults/invariant';
import { serveCalls } from '@vitrine/worker-threads/serve-calls';
import { makeFolder } from '@vitrine/sqlite/make-folder';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteKeyStore } from './sqlite-key-store.ts';

/** What can be asked of the thread: the store's own methods. */
export type KeyWorkerMethod = Exclude<keyof SqliteKeyStore, symbol | 'isReplaced'>;

export interface KeyWorkerCall {
  readonly method: KeyWorkerMethod;
  readonly args: readonly unknown[];
}

invariant(parentPort !== null, 'runs on a worker thread');
const { path } = workerData as { readonly path: string };
makeFolder(dirname(path));
let store = new SqliteKeyStore(path);

serveCalls(
  parentPort,
  (argument) => {
    const { method, args } = argument as KeyWorkerCall;
    reopenWhenReplaced();
    return (store[method] as (...args: readonly unknown[]) => unknown).apply(store, [...args]);
  },
  () => store[Symbol.dispose](),
);

/** Whoever restores a copy puts another file in the place of the one that is open: what is changed there from then on would never be
 *  seen here, such as a revocation, and what is changed here would be lost. */
function reopenWhenReplaced(): void {
  if (!store.isReplaced) return;
  const opened = new SqliteKeyStore(path);
  store[Symbol.dispose]();
  store = opened;
}
