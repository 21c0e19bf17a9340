// Entry of the worker thread that answers questions about traces, so that a long scan never holds up the proxy or the writer.
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '@vitrine/faults/invariant';
import { serveCalls } from '@vitrine/lifecycle/serve-calls';
import type { CheckpointQuery, TraceQuery } from '../trace-store.ts';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';

export type ReadWorkerCall = { readonly list: TraceQuery } | { readonly get: string } | { readonly checkpoints: CheckpointQuery };

invariant(parentPort !== null, 'runs on a worker thread');
const reader = new SqliteTraceReader((workerData as { readonly path: string }).path);

serveCalls(
  parentPort,
  (argument) => {
    const call = argument as ReadWorkerCall;
    if ('checkpoints' in call) return reader.checkpoints(call.checkpoints);
    return 'list' in call ? reader.list(call.list) : reader.get(call.get);
  },
  () => reader[Symbol.dispose](),
);
