import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PublisherOptions } from '@vitrine/gateway/recording/publisher/publisher-options';
import type { Bench, BenchOutcome, Progress } from '../bench.ts';
import { forkedWith, type Forked } from '../forked.ts';
import { kafkaRatio } from './kafka-ratio.ts';
import { PIPELINE_OPTIONS, readPipelinePlan, type PipelinePlan } from './pipeline-plan.ts';
import { publishRow, writerRows } from './pipeline-rows.ts';
import type { PublishOrder, PublishResult } from './publish-process.ts';
import { startServers, TOPIC, type Servers } from './servers.ts';
import { writerRounds } from './writer-rounds.ts';

/** Records published before the measurement. V8 compiles code that runs once per send after some 400 sends, and then a trace costs a quarter less. */
const WARM_UP_TRACES = 100_000;
/** The cost of publishing is the median over this many parts of filling the topic. */
const FILL_PARTS = 8;
const PREPARE_NODE = new URL('../../../packages/platform/lifecycle/src/prepare-node.js', import.meta.url).href;
const SPOOL_MAX_BYTES = 268_435_456;
const MAX_RECORD_BYTES = 1_000_000;

/** How fast traces go through Kafka into Postgres, and what publishing costs a gateway. */
export const pipelineBench: Bench = {
  name: 'pipeline',
  sentence: 'traces through Kafka into Postgres: rate and CPU of trace-writers, CPU of publishing; needs a container engine',
  options: PIPELINE_OPTIONS,
  examples: ['pipeline', 'pipeline --writers 1 --rounds 5 --proxy-rounds 0', 'pipeline --rounds 0 --proxy-rounds 12'],
  prepare(args) {
    const plan = readPipelinePlan(args);
    return 'problem' in plan ? plan : { run: (progress) => runPipelineBench(plan, progress) };
  },
};

async function runPipelineBench(plan: PipelinePlan, progress: Progress): Promise<BenchOutcome> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'vitrine-bench-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  // Interrupted: containers are stopped and files removed on the way out.
  const interrupt = () => void stack.disposeAsync().finally(() => process.exit(1));
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  stack.defer(() => void process.off('SIGINT', interrupt).off('SIGTERM', interrupt));
  progress('starting Kafka and Postgres');
  const servers = await startServers(stack);
  const proxy = await kafkaRatio(plan.proxyRounds, servers, home, progress);
  // Uses the compile cache, like a gateway that was started before. Without it Node strips types with WebAssembly, whose memory grows.
  // After that, loops over typed arrays stay slower, and publishing takes 3 µs more.
  await (await startPublisher(servers, home))[Symbol.asyncDispose]();
  const publisher = stack.use(await startPublisher(servers, home));
  const costs = await fillTopic(publisher, plan.traces, progress);
  const rounds = await writerRounds(plan, servers, publisher, progress);
  return {
    rows: [publishRow(costs), ...writerRows(rounds), ...proxy.rows],
    broken: [...rounds.broken, ...proxy.broken],
  };
}

function startPublisher({ brokers }: Servers, home: string): Promise<Forked> {
  const options: PublisherOptions = {
    brokers,
    topic: TOPIC,
    tls: undefined,
    sasl: undefined,
    spool: { path: join(home, 'spool'), maxBytes: SPOOL_MAX_BYTES },
    maxRecordBytes: MAX_RECORD_BYTES,
    logChannel: randomUUID(),
  };
  return forkedWith(['--import', PREPARE_NODE], new URL('./publish-process.ts', import.meta.url), JSON.stringify(options));
}

/** Returns the CPU time per published trace, for each part. */
async function fillTopic(publisher: Forked, traces: number, progress: Progress): Promise<number[]> {
  progress(`publishing ${WARM_UP_TRACES.toLocaleString('en')} traces that do not count`);
  const warmUp: PublishOrder = { name: 'publish', records: WARM_UP_TRACES };
  await publisher.call(warmUp);
  const costs: number[] = [];
  const records = Math.ceil(traces / FILL_PARTS);
  for (let part = 0; part < FILL_PARTS; part += 1) {
    const order: PublishOrder = { name: 'publish', records };
    const { cpuMicros } = (await publisher.call(order)) as PublishResult;
    progress(`published ${((part + 1) * records).toLocaleString('en')}  cpu ${(cpuMicros / records).toFixed(1)} µs`);
    costs.push(cpuMicros / records);
  }
  return costs;
}
