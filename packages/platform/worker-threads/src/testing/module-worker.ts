// Entry of a worker thread that only serves modules.
import { invariant } from '@vitrine/faults/invariant';
import { parentPort } from 'node:worker_threads';
import { serveCalls } from '../serve-calls.ts';
import { ThreadModules, type ModuleSource } from '../thread-modules.ts';

invariant(parentPort !== null, 'runs on a worker thread');
const modules = new ThreadModules();

serveCalls(
  parentPort,
  (argument) => {
    const { source, call } = argument as { readonly source: ModuleSource; readonly call: unknown };
    return modules.callModule(source, call);
  },
  () => modules[Symbol.asyncDispose](),
);
