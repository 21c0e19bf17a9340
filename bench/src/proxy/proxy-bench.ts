import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Bench, BenchOutcome, BenchRow, Progress } from '../bench.ts';
import { forked } from '../forked.ts';
import { brokenBy, measure, progressOf, type Extent, type Helpers, type Measure } from './measure.ts';
import { PROXY_OPTIONS, readProxyPlan, type ProxyCase, type ProxyPlan } from './proxy-plan.ts';
import { proxyRows } from './proxy-rows.ts';
import { LEAST_SAMPLES, SOAK_CASE, soakRows } from './soak.ts';
import { startTarget, type Target } from './target.ts';

const WARM_UP_SECONDS = 1;

/** What the gateway costs against no proxy and against a bare forwarder, and whether every exchange became a row. */
export const proxyBench: Bench = {
  name: 'proxy',
  sentence: 'speed, CPU and memory of the gateway against a bare forwarder, and rows kept under load',
  options: PROXY_OPTIONS,
  examples: [
    'proxy',
    'proxy --cases json-32,sse-16 --rounds 5',
    'proxy --targets direct,bare --seconds 2',
    'proxy --cases none --no-bodies --soak 2000000',
    'proxy --targets gateway,gateway+limits --against ../before',
  ],
  prepare(args) {
    const plan = readProxyPlan(args);
    return 'problem' in plan ? plan : { run: (progress) => runProxyBench(plan, progress) };
  },
};

async function runProxyBench(plan: ProxyPlan, progress: Progress): Promise<BenchOutcome> {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'vitrine-bench-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));

  const mock = stack.use(await forked(new URL('./mock-process.ts', import.meta.url)));
  const loader = stack.use(await forked(new URL('./load-process.ts', import.meta.url)));
  // Interrupted: without its load generator the run fails at once, and everything is stopped and removed on the way out.
  const interrupt = () => void loader[Symbol.asyncDispose]();
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  stack.defer(() => void process.off('SIGINT', interrupt).off('SIGTERM', interrupt));

  const targets: Target[] = [];
  for (const name of plan.targets) {
    targets.push(await startTarget(name, mock, dir, stack));
    if (plan.against !== undefined && name.startsWith('gateway'))
      targets.push(await startTarget(name, mock, dir, stack, plan.against));
  }
  return await new Session({ mock, loader }, progress).run(plan, targets);
}

class Session {
  readonly #helpers: Helpers;
  readonly #progress: Progress;
  readonly #rows: BenchRow[] = [];
  readonly #broken: string[] = [];

  constructor(helpers: Helpers, progress: Progress) {
    this.#helpers = helpers;
    this.#progress = progress;
  }

  async run(plan: ProxyPlan, targets: readonly Target[]): Promise<BenchOutcome> {
    for (const item of plan.cases) {
      const measures = await this.#rounds(plan, item, item.kind === 'cut' ? targets.filter(isGateway) : targets);
      this.#rows.push(...proxyRows(measures, item.kind === 'cut' ? 'counts' : 'speed'));
    }
    if (plan.soak > 0) await this.#soak(plan.soak, targets);
    return { rows: this.#rows, broken: this.#broken };
  }

  /** Targets take turns within a round, each round beginning with another one: noise of the machine then meets all alike. */
  async #rounds(plan: ProxyPlan, item: ProxyCase, targets: readonly Target[]): Promise<Measure[]> {
    const measures: Measure[] = [];
    for (let round = 0; round <= plan.rounds; round += 1) {
      const first = round % Math.max(1, targets.length);
      const rotated = [...targets.slice(first), ...targets.slice(0, first)];
      // Turned round every other time, or one of two would always come behind the other.
      for (const target of round % 2 === 0 ? rotated : rotated.toReversed()) {
        measures.push(await this.#measure(target, item, { round, seconds: round === 0 ? WARM_UP_SECONDS : plan.seconds }));
      }
    }
    return measures;
  }

  async #soak(requests: number, targets: readonly Target[]): Promise<void> {
    const target = targets.find(isGateway) ?? targets.at(-1);
    if (target === undefined) return;
    this.#progress(`${SOAK_CASE.name}  ${target.name}  ${requests.toLocaleString('en')} requests, this takes minutes`);
    const measured = await this.#measure(target, SOAK_CASE, { round: 1, seconds: 0, requests, rssEveryMs: 1000 });
    if (measured.rssMib.length < LEAST_SAMPLES) this.#progress(`${SOAK_CASE.name}  too short to tell the memory of its quarters`);
    this.#rows.push(...soakRows(measured));
  }

  async #measure(target: Target, item: ProxyCase, extent: Extent): Promise<Measure> {
    const measured = await measure(this.#helpers, target, item, extent);
    this.#progress(progressOf(measured));
    this.#broken.push(...brokenBy(measured));
    return measured;
  }
}

const isGateway = (target: Target) => target.storedRows !== undefined;
