// The derivation thread's publisher in a separate process, so that its cost can be measured: fills the topic, publishes at a rate in
// parallel with others, and measures itself. Arguments: PublisherOptions as JSON. Ends with its parent.
import { openRecordWriter } from '@vitrine/gateway/recording/publisher/kafka-writer-module';
import type { PublisherFigures, PublisherOptions } from '@vitrine/gateway/recording/publisher/publisher-options';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { setTimeout as sleep } from 'node:timers/promises';
import { SampleRecords } from './sample-records.ts';

export type PublishOrder =
  | { readonly name: 'publish'; readonly records: number }
  /** Until the next order; a rate of 0 stops. */
  | { readonly name: 'load'; readonly perSecond: number };

export interface PublishResult {
  /** Since the start of this process. */
  readonly published: number;
  /** CPU of all threads of this process while an order `publish` ran, without making its records. */
  readonly cpuMicros: number;
}

/** `queue.batch` of the gateway. */
const BATCH = 512;
const TICK_MS = 50;

const options = JSON.parse(process.argv[2] ?? '') as PublisherOptions;
const writer = await openRecordWriter(options);
const isConnected = async () => ((await writer.call?.('figures')) as PublisherFigures | undefined)?.isConnected;
const samples = new SampleRecords();
let published = 0;
let cpuMicros = 0;
let perSecond = 0;

process.on('message', (order: PublishOrder) => void run(order).then(() => process.send?.({ published, cpuMicros })));
process.on('disconnect', () => process.exit(0));
// Exits explicitly, which writes the compile cache.
process.on('SIGTERM', () => process.exit(0));
await waitUntil(isConnected, { what: 'the broker', timeoutMs: 30_000 });
process.send?.({ port: 0 });
void publishAtRate();

async function run(order: PublishOrder): Promise<void> {
  if (order.name === 'load') {
    perSecond = order.perSecond;
    return;
  }
  cpuMicros = 0;
  for (let left = order.records; left > 0; left -= BATCH) {
    const records = samples.take(Math.min(BATCH, left));
    const before = process.cpuUsage();
    await write(records);
    const { user, system } = process.cpuUsage(before);
    cpuMicros += user + system;
  }
}

async function publishAtRate(): Promise<void> {
  for (let owed = 0; ; owed += (perSecond * TICK_MS) / 1_000) {
    const due = Math.min(Math.floor(owed), BATCH);
    if (due > 0) await write(samples.take(due));
    owed -= due;
    await sleep(TICK_MS);
  }
}

async function write(records: readonly TraceRecord[]): Promise<void> {
  const results = await writer.write(records);
  const failed = results.find((result) => result !== 'written');
  if (failed !== undefined) throw new Error(`a trace was not published: ${JSON.stringify(failed)}`);
  published += records.length;
}
