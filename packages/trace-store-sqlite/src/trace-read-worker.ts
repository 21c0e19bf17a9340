// Entry of the worker thread that answers questions about traces, so that a long scan never holds up the proxy or the writer.
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '@vitrine/faults/invariant';
import { Transfer, serveCalls } from '@vitrine/worker-threads/serve-calls';
import type { AnalyticsQuery } from '@vitrine/traces/trace-analytics';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { AncestorQuery, CheckpointQuery, TraceQuery } from '@vitrine/traces/trace-store';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';

export type ReadWorkerCall =
  | { readonly list: TraceQuery }
  | { readonly get: string; readonly tenant: Tenant | undefined }
  | { readonly checkpoints: CheckpointQuery }
  | { readonly ancestors: AncestorQuery }
  | { readonly answer: AnalyticsQuery }
  | { readonly quotaTotals: string };

invariant(parentPort !== null, 'runs on a worker thread');
const reader = new SqliteTraceReader((workerData as { readonly path: string }).path);

serveCalls(
  parentPort,
  (argument) => {
    const call = argument as ReadWorkerCall;
    if ('list' in call) return reader.list(call.list);
    if ('get' in call) return reader.get(call.get, call.tenant);
    if ('checkpoints' in call) return reader.checkpoints(call.checkpoints);
    if ('ancestors' in call) return reader.ancestors(call.ancestors);
    if ('quotaTotals' in call) return reader.quotaTotals(call.quotaTotals);
    const answer = reader.answer(call.answer);
    return answer && new Transfer(answer, [answer.buffer]);
  },
  () => reader[Symbol.dispose](),
);
