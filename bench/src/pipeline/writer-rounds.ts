import { waitUntil } from '@vitrine/testkit/wait-until';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress } from '../bench.ts';
import { forked, type Forked } from '../forked.ts';
import { cpuMicrosOf } from '../proxy/process-cost.ts';
import type { CopyResult } from './copy-process.ts';
import type { PipelinePlan } from './pipeline-plan.ts';
import type { PublishOrder, PublishResult } from './publish-process.ts';
import { PARTITIONS, type Servers } from './servers.ts';
import { TraceTables } from './trace-tables.ts';
import { startWriter, type WriterProcess } from './writer-process.ts';

/** Rows of the COPY: as many as fit into a few seconds and 150 MB of memory. */
const COPY_ROWS = 40_000;
const JOIN_TIMEOUT_MS = 120_000;
/** Traces of each writer before it is measured: code is compiled by then, and the group is at rest. */
const WARM_UP_TRACES = 2_000;

/** The results of one number of trace-writers within a round. */
export interface WriterMeasure {
  readonly round: number;
  readonly writers: number;
  readonly tracesPerSec: number;
  /** CPU of all writers for a trace. */
  readonly cpuMicros: number;
  readonly bytes: number;
  readonly logBytes: number;
}

export interface CopyMeasure {
  readonly round: number;
  readonly tracesPerSec: number;
}

export interface WriterRounds {
  readonly writers: readonly WriterMeasure[];
  readonly copies: readonly CopyMeasure[];
  readonly broken: readonly string[];
}

/** Trace-writers and a COPY of ready-made rows take turns, while traces are published. */
export async function writerRounds(
  plan: PipelinePlan,
  servers: Servers,
  publisher: Forked,
  progress: Progress,
): Promise<WriterRounds> {
  await using copier = await forked(new URL('./copy-process.ts', import.meta.url), servers.dsn, String(COPY_ROWS));
  const session = new WriterSession(plan, servers, publisher, copier);
  const [writers, copies]: [WriterMeasure[], CopyMeasure[]] = [[], []];
  await session.load(plan.load);
  for (let round = 1; round <= plan.rounds; round += 1) {
    const copied = await session.copy(round);
    progress(`round ${round}  COPY       ${copied.tracesPerSec.toFixed(0)} traces/s`);
    copies.push(copied);
    for (const count of plan.writers) {
      const measured = await session.write(round, count);
      const { tracesPerSec, cpuMicros } = measured;
      progress(`round ${round}  ${count} writers  ${tracesPerSec.toFixed(0)} traces/s  cpu ${cpuMicros.toFixed(1)} µs`);
      writers.push(measured);
    }
  }
  await session.load(0);
  return { writers, copies, broken: session.broken };
}

class WriterSession {
  readonly broken: string[] = [];
  readonly #plan: PipelinePlan;
  readonly #servers: Servers;
  readonly #tables: TraceTables;
  readonly #publisher: Forked;
  readonly #copier: Forked;

  constructor(plan: PipelinePlan, servers: Servers, publisher: Forked, copier: Forked) {
    this.#plan = plan;
    this.#servers = servers;
    this.#tables = new TraceTables(servers.database);
    this.#publisher = publisher;
    this.#copier = copier;
  }

  async load(perSecond: number): Promise<PublishResult> {
    return (await this.#publisher.call({ name: 'load', perSecond } satisfies PublishOrder)) as PublishResult;
  }

  async copy(round: number): Promise<CopyMeasure> {
    await this.#tables.clear();
    const { rows, seconds } = (await this.#copier.call(this.#plan.seconds)) as CopyResult;
    return { round, tracesPerSec: rows / seconds };
  }

  /** Each round uses a separate group, which begins with the first record of the topic. */
  async write(round: number, count: number): Promise<WriterMeasure> {
    await this.#tables.clear();
    await using stack = new AsyncDisposableStack();
    const group = `bench-${randomUUID()}`;
    const writers = await Promise.all(Array.from({ length: count }, () => startWriter(this.#servers, group, stack)));
    await this.#untilSettled(writers);
    const before = await this.#figures(writers);
    await sleep(this.#plan.seconds * 1_000);
    const after = await this.#figures(writers);
    const { published } = await this.load(this.#plan.load);
    const bytes = await this.#tables.bytes();
    await stack.disposeAsync();
    await this.#check(`round ${round}, ${count} writers`, after.traces, published);
    const traces = after.traces - before.traces;
    return {
      round,
      writers: count,
      tracesPerSec: (traces * 1_000) / (after.at - before.at),
      cpuMicros: (after.cpuMicros - before.cpuMicros) / traces,
      logBytes: (after.logBytes - before.logBytes) / traces,
      bytes: bytes / after.traces,
    };
  }

  async #untilSettled(writers: readonly WriterProcess[]): Promise<void> {
    const hasAll = async () => {
      const assigned = await Promise.all(writers.map((writer) => writer.assignedPartitions()));
      return assigned.every((count) => count > 0) && assigned.reduce((sum, count) => sum + count, 0) === PARTITIONS;
    };
    await waitUntil(hasAll, { what: 'all partitions to be assigned', timeoutMs: JOIN_TIMEOUT_MS });
    // A group may pause for seconds after its last member has joined.
    const enough = (await this.#tables.summed()) + writers.length * WARM_UP_TRACES;
    const isWarm = async () => (await this.#tables.summed()) >= enough;
    await waitUntil(isWarm, { what: 'trace-writers to write', timeoutMs: JOIN_TIMEOUT_MS });
  }

  async #figures(writers: readonly WriterProcess[]) {
    const traces = await this.#tables.summed();
    const at = performance.now();
    const cpuMicros = writers.reduce((sum, { pid }) => sum + (cpuMicrosOf(pid) ?? Number.NaN), 0);
    return { traces, at, cpuMicros, logBytes: await this.#tables.logBytes() };
  }

  /** Whether there was always something to write, and every row was written and summed once. */
  async #check(name: string, traces: number, published: number): Promise<void> {
    const [summed, counted] = [await this.#tables.summed(), await this.#tables.counted()];
    if (summed !== counted) this.broken.push(`${name}: ${counted} traces, and sums of ${summed}`);
    if (traces >= published) this.broken.push(`${name}: the end of the topic was reached; use more --traces`);
  }
}
