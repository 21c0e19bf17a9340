// Entry of the worker thread that makes traces of exchanges and writes them: the proxy's thread only hands references over.
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '@vitrine/faults/invariant';
import type { CapturedExchange } from '../captured-exchange.ts';
import { createCredentialHashes } from '../credential-hashes.ts';
import { deriveTrace, type CapturePolicy } from '../derive-trace.ts';
import { unpackExchanges, type ExchangeBatch } from '../exchange-batch.ts';
import { openPriceCatalogue, parsePriceOverride } from '../price-catalogue.ts';
import { createTraceIds } from '../trace-id.ts';
import type { TraceRecord } from '../trace-record.ts';
import type { WriteFailure } from '../write-failure.ts';
import { serveCalls } from './serve-calls.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

export interface WriteWorkerData {
  readonly path: string;
  readonly policy: CapturePolicy;
  readonly priceOverride: string | undefined;
}

export type WriteWorkerCall = { readonly batch: ExchangeBatch } | { readonly removeOlderThan: number };

invariant(parentPort !== null, 'runs on a worker thread');
const { path, policy, priceOverride } = workerData as WriteWorkerData;
const writer = new SqliteTraceWriter(path);
const tools = {
  policy,
  prices: openPriceCatalogue(priceOverride === undefined ? {} : { override: parsePriceOverride(priceOverride) }),
  createId: createTraceIds(pooledRandomBytes()),
  hashCredential: createCredentialHashes(),
};

serveCalls(
  parentPort,
  (argument) => {
    const call = argument as WriteWorkerCall;
    if ('removeOlderThan' in call)
      return { removed: writer.removeOlderThan(call.removeOlderThan), traceCount: writer.traceCount };
    const { records, failures } = deriveAll(unpackExchanges(call.batch));
    const result = writer.write(records);
    return { written: result.written, failures: [...failures, ...result.failures], traceCount: writer.traceCount };
  },
  () => writer[Symbol.dispose](),
);

/** One exchange that cannot be made a trace of (a bug of ours) costs itself, not its batch. */
function deriveAll(exchanges: readonly CapturedExchange[]): { records: TraceRecord[]; failures: WriteFailure[] } {
  const records: TraceRecord[] = [];
  let failed = 0;
  for (const exchange of exchanges) {
    try {
      records.push(deriveTrace(exchange, tools));
    } catch {
      failed += 1;
    }
  }
  return { records, failures: failed === 0 ? [] : [{ operation: 'write_trace', error_class: 'unknown', count: failed }] };
}

/** A call of `randomBytes` costs about a microsecond whatever it gives, so it is asked for 4 KiB at a time. */
function pooledRandomBytes(): (count: number) => Uint8Array {
  let pool = randomBytes(4_096);
  let used = 0;
  return (count) => {
    if (used + count > pool.length) {
      pool = randomBytes(4_096);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  };
}
