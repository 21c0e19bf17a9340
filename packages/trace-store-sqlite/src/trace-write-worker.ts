// Entry of the worker thread that makes traces of exchanges and writes them: the proxy's thread only hands references over.
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '@vitrine/faults/invariant';
import { Transfer, serveCalls } from '@vitrine/worker-threads/serve-calls';
import { createCredentialHashes } from '@vitrine/trace-derivation/credential-hashes';
import type { CapturePolicy } from '@vitrine/trace-derivation/capture-policy';
import { DerivedBatch } from '@vitrine/trace-derivation/derived-batch';
import { unpackExchanges, type PackedExchanges } from '@vitrine/trace-derivation/exchange-batch';
import { openPriceCatalogue, type PriceOverride } from '@vitrine/trace-derivation/price-catalogue';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { writeResultOf } from '@vitrine/traces/write-result';
import { createScopeReader } from '@vitrine/trace-derivation/scope-table';
import { createTraceIds } from '@vitrine/traces/trace-id';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

export interface WriteWorkerData {
  readonly path: string;
  readonly policy: CapturePolicy;
  readonly priceOverride: PriceOverride | undefined;
  /** Whether each batch is answered with the tokens that its exchanges used. */
  readonly reportsTokens: boolean;
  /** Whether it is answered with what its traces add to their keys' days. */
  readonly reportsUsage: boolean;
}

export type WriteWorkerCall =
  | { readonly packed: PackedExchanges }
  | { readonly removeOlderThan: number; readonly rollups: number }
  | { readonly probe: true };

invariant(parentPort !== null, 'runs on a worker thread');
const { path, policy, priceOverride, reportsTokens, reportsUsage } = workerData as WriteWorkerData;
const writer = new SqliteTraceWriter(path);
const readScope = createScopeReader();
const context = {
  policy,
  privacy: openPrivacyContext(policy.privacy),
  prices: openPriceCatalogue({ override: priceOverride }),
  createId: createTraceIds(pooledRandomBytes()),
  hashCredential: createCredentialHashes(),
  background: writer.background,
};

serveCalls(
  parentPort,
  (argument) => {
    const call = argument as WriteWorkerCall;
    if ('removeOlderThan' in call)
      return { removed: writer.removeOlderThan(call.removeOlderThan, call.rollups), traceCount: writer.traceCount };
    if ('probe' in call) return writer.probe();
    const { packed } = call;
    const { count, numbers, bytes } = packed;
    const batch = new DerivedBatch(count, () => unpackExchanges(packed, readScope), context, { reportsUsage, reportsTokens });
    const results = writer.write(batch);
    const written = {
      ...writeResultOf(results, count),
      usage: reportsUsage ? batch.usage(results) : [],
      tokens: batch.tokens(),
      traceCount: writer.traceCount,
      memory: { numbers, bytes },
    };
    return new Transfer(written, [numbers.buffer, bytes.buffer]);
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
