import { DETECTORS } from '@vitrine/privacy/findings';
import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { DerivationThread } from '@vitrine/trace-derivation/derivation-thread';
import { ExchangeBatch } from '@vitrine/trace-derivation/exchange-batch';
import type { TraceSink } from '@vitrine/trace-derivation/trace-sink';
import { openEmbeddedTraceStore, sqliteWriter } from '@vitrine/trace-store-sqlite/embedded-trace-store';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { TraceMeasures } from '@vitrine/traces/trace-measures';
import type { WriterSource } from '@vitrine/traces/writer-thread';
import type { Progress } from '../bench.ts';
import type { AnalyticsPlan } from './analytics-plan.ts';
import type { Loaded } from './bench-storage.ts';
import { Traffic } from './traffic.ts';

const BATCH = 256;
const PROGRESS_EVERY = 250_000;

export const NO_PRIVACY: PrivacyRules = {
  mode: 'off',
  policyId: '',
  detectors: Object.fromEntries(DETECTORS.map((name) => [name, false])) as PrivacyRules['detectors'],
  deniedHeaders: [],
  deniedFields: [],
  format: '',
  salt: '',
  scopes: [],
};

/** Opens the SQLite store at `path`, and fills it when it is empty. */
export async function loadTraces(path: string, plan: AnalyticsPlan, progress: Progress): Promise<Loaded> {
  const sink = derivationThread(sqliteWriter(path));
  const store = await openEmbeddedTraceStore(path, sink);
  const isThere = (await store.summary()).traceCount > 0;
  const from = isThere ? await oldestOf(store) : Date.now() - plan.days * DAY_MS;
  const microsPerTrace = isThere ? undefined : await writeTraffic(sink, from, BATCH, plan, progress);
  return { store, from, microsPerTrace, sizeBytes: (await store.summary()).sizeBytes ?? 0 };
}

/** The thread that derives and writes traces, like in a gateway. */
export function derivationThread(writer: WriterSource): DerivationThread {
  const policy = { captureBodies: false, bodyMaxSize: 0, privacy: NO_PRIVACY };
  return new DerivationThread({ policy, priceOverride: undefined, writer });
}

/** Writes the traffic of the plan in batches, as a gateway does. Resolves with the microseconds per trace. */
export async function writeTraffic(
  sink: TraceSink,
  from: number,
  batchSize: number,
  { days, traces }: Pick<AnalyticsPlan, 'days' | 'traces'>,
  progress: Progress,
): Promise<number> {
  const traffic = new Traffic(from, days);
  const started = performance.now();
  // One batch is on its way while the next one is made.
  let writing: Promise<void> = Promise.resolve();
  for (let made = 0; made < traces;) {
    const batch = new ExchangeBatch(batchSize, 0);
    while (!batch.isFull && made < traces) batch.add(traffic.exchange(made++ / traces));
    await writing;
    writing = writeWhole(sink, batch);
    if (made % PROGRESS_EVERY < batchSize)
      progress(`loaded ${made.toLocaleString('en')} of ${traces.toLocaleString('en')} traces`);
  }
  await writing;
  return ((performance.now() - started) * 1_000) / traces;
}

async function writeWhole(sink: TraceSink, batch: ExchangeBatch): Promise<void> {
  const { failures } = await sink.write(batch);
  if (failures[0] !== undefined) throw new Error(`traces were not written: ${failures[0].error.message}`);
}

/** The time of the oldest trace, to an hour. */
export async function oldestOf(store: TraceMeasures): Promise<number> {
  const [first] = await store.measure({ bucket: 'hour', parts: [] });
  return first?.bucketStart ?? Number.NaN;
}
