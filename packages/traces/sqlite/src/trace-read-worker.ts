// Entry of the worker thread that reads traces, so that a long scan never blocks the proxy or the writer.
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '@vitrine/faults/invariant';
import { Transfer, serveCalls } from '@vitrine/worker-threads/serve-calls';
import { buffersOf, callReader, SqliteTraceReader, type ReadCall } from './sqlite-trace-reader.ts';

invariant(parentPort !== null, 'runs on a worker thread');
const reader = new SqliteTraceReader((workerData as { readonly path: string }).path);

serveCalls(
  parentPort,
  (argument) => {
    const call = argument as ReadCall;
    const result = callReader(reader, call);
    return new Transfer(result, buffersOf(call, result));
  },
  () => reader[Symbol.dispose](),
);
