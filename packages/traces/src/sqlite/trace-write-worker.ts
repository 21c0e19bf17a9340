// Entry of the worker thread that makes traces of exchanges and writes them: the proxy's thread only hands references over.
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '@vitrine/faults/invariant';
import { serveCalls } from '@vitrine/lifecycle/serve-calls';
import { createCredentialHashes } from '../credential-hashes.ts';
import { deriveTrace, type CapturePolicy } from '../derive-trace.ts';
import { unpackExchanges, type PackedExchanges } from '../exchange-batch.ts';
import { openPriceCatalogue, type PriceOverride } from '../price-catalogue.ts';
import { openPrivacyTools } from '../privacy/privacy-tools.ts';
import { createTraceIds } from '../trace-id.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

export interface WriteWorkerData {
  readonly path: string;
  readonly policy: CapturePolicy;
  readonly priceOverride: PriceOverride | undefined;
}

export type WriteWorkerCall =
  | { readonly packed: PackedExchanges }
  | { readonly removeOlderThan: number; readonly rollups: number };

invariant(parentPort !== null, 'runs on a worker thread');
const { path, policy, priceOverride } = workerData as WriteWorkerData;
const writer = new SqliteTraceWriter(path);
const tools = {
  policy,
  privacy: openPrivacyTools(policy.privacy),
  prices: openPriceCatalogue({ override: priceOverride }),
  createId: createTraceIds(pooledRandomBytes()),
  hashCredential: createCredentialHashes(),
};

serveCalls(
  parentPort,
  (argument) => {
    const call = argument as WriteWorkerCall;
    if ('removeOlderThan' in call)
      return { removed: writer.removeOlderThan(call.removeOlderThan, call.rollups), traceCount: writer.traceCount };
    const { packed } = call;
    const result = writer.write(
      packed.count,
      () => unpackExchanges(packed),
      (exchange) => deriveTrace(exchange, tools),
    );
    return { ...result, traceCount: writer.traceCount };
  },
  () => writer[Symbol.dispose](),
);

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
