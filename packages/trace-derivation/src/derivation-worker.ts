// Entry of the worker thread that makes records of exchanges and writes them; see `DerivationThread`.
import { invariant } from '@vitrine/faults/invariant';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { createTraceIds } from '@vitrine/traces/trace-id';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { allLost, writeResultOf } from '@vitrine/traces/write-result';
import type { WriterModule, WriterSource } from '@vitrine/traces/writer-thread';
import { serveCalls, Transfer } from '@vitrine/worker-threads/serve-calls';
import { ThreadModules, type ModuleSource } from '@vitrine/worker-threads/thread-modules';
import { randomBytes } from 'node:crypto';
import { threadCpuUsage } from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import type { CapturePolicy } from './capture-policy.ts';
import { createCredentialHashes } from './credential-hashes.ts';
import { DerivedBatch, type DerivationReports } from './derived-batch.ts';
import { unpackExchanges, type BatchMemory, type PackedExchanges } from './exchange-batch.ts';
import { openPriceCatalogue } from './price-catalogue.ts';
import type { PriceOverride } from './price-override.ts';
import { createScopeReader } from './scope-table.ts';
import type { BatchResult } from './trace-sink.ts';

export interface DerivationWorkerData extends DerivationReports {
  readonly policy: CapturePolicy;
  readonly priceOverride: PriceOverride | undefined;
  readonly writer: WriterSource;
}

/** A batch to write, a call of the writer's store, or one of a module that this thread serves beside. */
export type DerivationWorkerCall =
  | { readonly packed: PackedExchanges }
  | { readonly writer: unknown }
  | { readonly source: ModuleSource; readonly argument: unknown };

export interface DerivationResponse {
  readonly value: unknown;
  readonly traceCount: number;
  /** That of the batch. */
  readonly memory?: BatchMemory;
}

invariant(parentPort !== null, 'runs on a worker thread');
const { policy, priceOverride, writer: source, ...reports } = workerData as DerivationWorkerData;
const { openRecordWriter } = (await import(source.module)) as WriterModule;
const writer = await openRecordWriter(source.options);
const modules = new ThreadModules();
const readScope = createScopeReader();
const context = {
  policy,
  privacy: openPrivacyContext(policy.privacy),
  prices: openPriceCatalogue({ override: priceOverride }),
  createId: createTraceIds(pooledRandomBytes()),
  hashCredential: createCredentialHashes(),
  cpuMs: () => {
    const { user, system } = threadCpuUsage();
    return (user + system) / 1_000;
  },
  ...(writer.background && { background: writer.background }),
};

serveCalls(
  parentPort,
  async (argument) => {
    const call = argument as DerivationWorkerCall;
    if ('writer' in call) return responseOf(await writer.call?.(call.writer));
    if ('source' in call) return responseOf(await modules.callModule(call.source, call.argument));
    const { packed } = call;
    const { numbers, bytes } = packed;
    const response = { ...responseOf(await write(packed)), memory: { numbers, bytes } };
    return new Transfer(response, [numbers.buffer, bytes.buffer]);
  },
  async () => {
    await modules[Symbol.asyncDispose]();
    await writer.close();
  },
);

function responseOf(value: unknown): DerivationResponse {
  return { value, traceCount: writer.traceCount ?? 0 };
}

async function write(packed: PackedExchanges): Promise<BatchResult> {
  const { count } = packed;
  const batch = new DerivedBatch(count, () => unpackExchanges(packed, readScope), context, reports);
  try {
    const results = await writer.write(batch);
    return {
      ...writeResultOf(results, count),
      usage: batch.usage(results),
      tokens: batch.tokens(),
      bodiesOmitted: batch.bodiesOmitted,
    };
  } catch (error) {
    return { ...allLost(count, writeErrorOf(error)), usage: [], tokens: batch.tokens() };
  }
}

/** A call of `randomBytes` costs about a microsecond whatever its length, so 4 KiB are drawn at a time. */
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
