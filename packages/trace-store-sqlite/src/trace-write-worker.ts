// Entry of the worker thread that makes traces of exchanges and writes them: the proxy's thread only hands references over.
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '@vitrine/faults/invariant';
import { Transfer, serveCalls } from '@vitrine/worker-threads/serve-calls';
import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import { createCredentialHashes } from '@vitrine/trace-derivation/credential-hashes';
import type { CapturePolicy } from '@vitrine/trace-derivation/capture-policy';
import { deriveTrace } from '@vitrine/trace-derivation/derive-trace';
import { unpackExchanges, type PackedExchanges } from '@vitrine/trace-derivation/exchange-batch';
import { openPriceCatalogue, type PriceOverride } from '@vitrine/trace-derivation/price-catalogue';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { usagePathOf } from '@vitrine/trace-derivation/stored-responses';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import type { TokenUse } from '@vitrine/traces/write-result';
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
const writer = new SqliteTraceWriter(path, undefined, reportsUsage);
const readScope = createScopeReader();
const tools = {
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
    let tokens: TokenUse[] = [];
    const exchanges = () => {
      tokens = [];
      return unpackExchanges(packed, readScope);
    };
    const derive = (exchange: CapturedExchange) => {
      const trace = deriveTrace(exchange, tools);
      if (reportsTokens && trace.total_tokens > 0) tokens.push(tokenUseOf(trace));
      return trace;
    };
    const result = writer.write(packed.count, exchanges, derive);
    const { numbers, bytes } = packed;
    const written = {
      ...result,
      ...(reportsTokens ? { tokens } : {}),
      traceCount: writer.traceCount,
      memory: { numbers, bytes },
    };
    return new Transfer(written, [numbers.buffer, bytes.buffer]);
  },
  () => writer[Symbol.dispose](),
);

function tokenUseOf({ provider, model, request_method, request_path, input_tokens, output_tokens }: TraceRecord): TokenUse {
  const path = usagePathOf({ method: request_method, path: request_path });
  return { provider, model, path, input_tokens, output_tokens };
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
