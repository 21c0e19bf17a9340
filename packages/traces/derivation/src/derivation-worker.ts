// Entry of the worker thread that derives records from exchanges and writes them; see `DerivationThread`.
import { invariant } from '@vitrine/faults/invariant';
import { openPrivacyContext } from '@vitrine/privacy/privacy-context';
import { createTraceIds } from '@vitrine/traces/trace-id';
import type { RecordResult } from '@vitrine/traces/record-writer';
import { writeErrorOf } from '@vitrine/traces/write-error';
import { allLost, writeResultOf } from '@vitrine/traces/write-result';
import type { WriterModule, WriterSource } from '@vitrine/traces/writer-thread';
import { serveCalls, Transfer } from '@vitrine/worker-threads/serve-calls';
import { ThreadModules, type ModuleSource } from '@vitrine/worker-threads/thread-modules';
import { randomBytes } from 'node:crypto';
import { threadCpuUsage } from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import type { CapturePolicy } from './capture-policy.ts';
import { deriveBatch, resultsOf, tokensOf, unknownOf, usageOf } from './derive-batch.ts';
import { deriveTrace } from './derive-trace.ts';
import { unpackExchanges, type PackedExchanges } from './exchange-batch.ts';
import { openPriceCatalogue, type UnknownModels } from './price-catalogue.ts';
import type { PriceOverride } from './price-override.ts';
import type { BatchResult } from './trace-sink.ts';

/** Optional report of a batch. */
export interface DerivationReports {
  /** What its records add to the days of their keys. */
  readonly reportsUsage: boolean;
  /** The tokens that its exchanges used. */
  readonly reportsTokens: boolean;
}

export interface DerivationWorkerData extends DerivationReports {
  readonly policy: CapturePolicy;
  readonly priceOverride: PriceOverride | undefined;
  readonly unknownModel?: UnknownModels | undefined;
  readonly writer: WriterSource;
}

/** A batch to write, a call of the writer's store, or a call of another module on this thread. */
export type DerivationWorkerCall =
  | { readonly packed: PackedExchanges }
  | { readonly writer: unknown }
  | { readonly source: ModuleSource; readonly argument: unknown };

export interface DerivationResponse {
  readonly value: unknown;
  readonly traceCount: number;
  /** The memory of the batch. */
  readonly memory?: Uint8Array<ArrayBuffer>;
}

invariant(parentPort !== null, 'runs on a worker thread');
const { policy, priceOverride, unknownModel, writer: source, reportsUsage, reportsTokens } = workerData as DerivationWorkerData;
const { openRecordWriter } = (await import(source.module)) as WriterModule;
const writer = await openRecordWriter(source.options);
const modules = new ThreadModules();
const createId = createTraceIds(pooledRandomBytes());
const context = {
  policy,
  privacy: openPrivacyContext(policy.privacy),
  prices: openPriceCatalogue({ override: priceOverride, unknownModel }),
  cpuMs: () => {
    const { user, system } = threadCpuUsage();
    return (user + system) / 1_000;
  },
};

serveCalls(
  parentPort,
  async (argument) => {
    const call = argument as DerivationWorkerCall;
    if ('writer' in call) return responseOf(await writer.call?.(call.writer));
    if ('source' in call) return responseOf(await modules.callModule(call.source, call.argument));
    const { bytes: memory } = call.packed;
    return new Transfer({ ...responseOf(await write(call.packed)), memory }, [memory.buffer]);
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
  let bodiesOmitted = 0;
  const derivation = { ...context, onBodiesOmitted: () => (bodiesOmitted += 1) };
  const batch = deriveBatch(unpackExchanges(packed), (exchange) => deriveTrace(exchange, derivation, createId(exchange.endedAt)));
  const reports = (results: readonly RecordResult[]) => ({
    tokens: reportsTokens ? tokensOf(batch, results) : [],
    unknown: unknownOf(batch, results),
    bodiesOmitted,
  });
  try {
    const results = await writer.write(batch.records);
    const written = writeResultOf(resultsOf(batch, results), batch.places.length);
    return { ...written, usage: reportsUsage ? usageOf(batch, results) : [], ...reports(results) };
  } catch (error) {
    return { ...allLost(batch.places.length, writeErrorOf(error)), usage: [], ...reports([]) };
  }
}

/** A call of `randomBytes` costs about a microsecond for any length, so 4 KiB are drawn at a time. */
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
