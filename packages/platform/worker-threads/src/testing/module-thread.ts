import { Worker } from 'node:worker_threads';
import type { ModuleThread } from '../thread-modules.ts';
import { WorkerCalls } from '../worker-calls.ts';

/** A worker thread that only serves modules. */
export function startModuleThread(): ModuleThread & AsyncDisposable {
  const calls = new WorkerCalls(() => new Worker(new URL('./module-worker.ts', import.meta.url)), 16);
  return {
    callModule: (source, call) => calls.call({ source, call }),
    [Symbol.asyncDispose]: () => calls[Symbol.asyncDispose](),
  };
}
