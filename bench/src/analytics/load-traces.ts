import { DETECTORS } from '@vitrine/privacy/findings';
import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { DerivationThread } from '@vitrine/trace-derivation/derivation-thread';
import { openEmbeddedTraceStore, sqliteWriter, type EmbeddedTraceStore } from '@vitrine/trace-store-sqlite/embedded-trace-store';
import { ExchangeBatch } from '@vitrine/trace-derivation/exchange-batch';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import type { Progress } from '../bench.ts';
import type { AnalyticsPlan } from './analytics-plan.ts';
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

export interface Loaded {
  readonly store: EmbeddedTraceStore;
  /** The time of the oldest trace. */
  readonly from: number;
  /** Time for making an exchange, packing, deriving and writing. Undefined when nothing was loaded. */
  readonly microsPerTrace: number | undefined;
}

/** Opens the store at `path` and fills it, as a gateway does: batches of exchanges go to the thread that derives and writes. */
export async function loadTraces(path: string, plan: AnalyticsPlan, progress: Progress): Promise<Loaded> {
  const policy = { captureBodies: false, bodyMaxSize: 0, privacy: NO_PRIVACY };
  const sink = new DerivationThread({ policy, priceOverride: undefined, writer: sqliteWriter(path) });
  const store = await openEmbeddedTraceStore(path, sink);
  const { traceCount } = await store.summary();
  if (traceCount > 0) {
    const oldest = await oldestOf(store);
    progress(`${traceCount.toLocaleString('en')} traces are there already`);
    return { store, from: oldest, microsPerTrace: undefined };
  }
  const from = Date.now() - plan.days * DAY_MS;
  const traffic = new Traffic(from, plan.days);
  const started = performance.now();
  // One batch is on its way while the next one is made.
  let writing: Promise<unknown> = Promise.resolve();
  for (let made = 0; made < plan.traces;) {
    const batch = new ExchangeBatch(BATCH, 0);
    while (!batch.isFull && made < plan.traces) batch.add(traffic.exchange(made++ / plan.traces));
    await writing;
    writing = sink.write(batch);
    if (made % PROGRESS_EVERY < BATCH)
      progress(`loaded ${made.toLocaleString('en')} of ${plan.traces.toLocaleString('en')} traces`);
  }
  await writing;
  return { store, from, microsPerTrace: ((performance.now() - started) * 1_000) / plan.traces };
}

/** The time of the oldest trace, to an hour. */
async function oldestOf(store: EmbeddedTraceStore): Promise<number> {
  const [first] = await store.measure({ bucket: 'hour', usageOnly: true });
  return first?.bucketStart ?? Number.NaN;
}
