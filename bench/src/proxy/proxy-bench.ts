import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Bench, BenchOutcome, BenchRow, Progress } from '../bench.ts';
import { forked } from '../forked.ts';
import { budgetRows } from './budgets.ts';
import { brokenBy, measure, progressOf, type Extent, type Helpers, type Measure } from './measure.ts';
import { PROXY_OPTIONS, readProxyPlan, type ProxyCase, type ProxyPlan, type TargetName } from './proxy-plan.ts';
import { proxyRows, startRows, LEAST_SAMPLES, SOAK_CASE, soakRows } from './proxy-rows.ts';
import { startTarget, type Target } from './target.ts';
import { warmUps } from './warm-up.ts';

/** For the connections of a case. */
const WARM_UP_SECONDS = 1;
/** Measured starts of each process; the one before them fills the cache of compiled sources. */
const MEASURED_STARTS = 5;

/** The cost of the gateway compared with no proxy and with a bare forwarder, and whether every exchange became a row. */
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

  return await new Session({ mock, loader }, progress, dir).run(plan);
}

class Session {
  readonly #helpers: Helpers;
  readonly #progress: Progress;
  readonly #dir: string;
  readonly #rows: BenchRow[] = [];
  readonly #broken: string[] = [];
  #turn = 0;

  /** `dir`: for the files of the targets. */
  constructor(helpers: Helpers, progress: Progress, dir: string) {
    this.#helpers = helpers;
    this.#progress = progress;
    this.#dir = dir;
  }

  async run(plan: ProxyPlan): Promise<BenchOutcome> {
    const measures: Measure[] = [];
    const started = await this.#measureStarts(plan);
    for (let start = 0; start < plan.starts; start += 1) {
      await using stack = new AsyncDisposableStack();
      const targets = await this.#startTargets(plan, String(start), plan.targets, stack);
      for (const target of targets)
        for (const { item, extent } of warmUps(plan.cases, plan.warmUp)) await this.#measure(target, item, extent);
      for (const item of plan.cases)
        measures.push(...(await this.#rounds(plan, start, item, item.kind === 'cut' ? targets.filter(isGateway) : targets)));
      if (plan.soak > 0 && start === plan.starts - 1) await this.#soak(plan.soak, targets);
    }
    const rows = plan.cases.flatMap((item) =>
      proxyRows(
        measures.filter((one) => one.case === item.name),
        item.kind === 'cut' ? 'counts' : 'speed',
      ),
    );
    const all = [...rows, ...startRows(started), ...this.#rows];
    return { rows: [...all, ...budgetRows(all)], broken: this.#broken };
  }

  /** Starts the forwarder, whose time shows the speed of the machine, and gateways one at a time and alone, because during the loads the first one
   *  would start while the helpers are still busy. */
  async #measureStarts(plan: ProxyPlan): Promise<Target[]> {
    const names = plan.targets.filter((name) => name === 'bare' || name.startsWith('gateway'));
    const started: Target[] = [];
    for (let turn = 0; turn <= MEASURED_STARTS; turn += 1)
      for (const name of names) {
        await using stack = new AsyncDisposableStack();
        const targets = await this.#startTargets(plan, `start-${turn}`, [name], stack);
        if (turn > 0) started.push(...targets);
      }
    return started;
  }

  /** Processes that start later are some percent faster; so every other start begins with the other checkout. `folder`: for their files. */
  async #startTargets(
    plan: ProxyPlan,
    folder: string,
    names: readonly TargetName[],
    stack: AsyncDisposableStack,
  ): Promise<Target[]> {
    const dir = join(this.#dir, folder);
    const both = (this.#turn += 1) % 2 === 0 ? [undefined, plan.against] : [plan.against, undefined];
    const targets: Target[] = [];
    for (const name of names) {
      const checkouts = plan.against !== undefined && name.startsWith('gateway') ? both : [undefined];
      for (const checkout of checkouts) targets.push(await startTarget(name, this.#helpers.mock, dir, stack, checkout));
    }
    return targets;
  }

  /** Targets take turns within a round, so that noise of the machine affects all alike. */
  async #rounds(plan: ProxyPlan, start: number, item: ProxyCase, targets: readonly Target[]): Promise<Measure[]> {
    const measures: Measure[] = [];
    const warmUp = { round: 0, seconds: WARM_UP_SECONDS };
    for (const target of targets) measures.push(await this.#measure(target, item, warmUp));
    for (let round = 1 + start; round <= plan.rounds; round += plan.starts) {
      const turn = start + (round - 1 - start) / plan.starts;
      for (const target of inTurn(targets, turn))
        measures.push(await this.#measure(target, item, { round, seconds: plan.seconds }));
    }
    return measures;
  }

  async #soak(requests: number, targets: readonly Target[]): Promise<void> {
    const target = targets.find(isGateway) ?? targets.at(-1);
    if (target === undefined) return;
    this.#progress(`${SOAK_CASE.name}  ${target.name}  ${requests.toLocaleString('en')} requests, this takes minutes`);
    const measured = await this.#measure(target, SOAK_CASE, { round: 1, seconds: 0, requests, rssEveryMs: 1000 });
    if (measured.rssMib.length < LEAST_SAMPLES)
      this.#progress(`${SOAK_CASE.name}  too short to compare the memory of its quarters`);
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

/** Rotated by one each turn, and reversed every other turn: otherwise one of two would always run second. */
function inTurn(targets: readonly Target[], turn: number): readonly Target[] {
  const first = turn % Math.max(1, targets.length);
  const rotated = [...targets.slice(first), ...targets.slice(0, first)];
  return turn % 2 === 0 ? rotated : rotated.toReversed();
}
