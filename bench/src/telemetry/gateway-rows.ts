import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { BenchRow, Progress } from '../bench.ts';
import { forked } from '../forked.ts';
import { median } from '../median.ts';
import { measure, progressOf } from '../proxy/measure.ts';
import type { ProxyCase } from '../proxy/proxy-plan.ts';
import { startGatewayTarget, type Target } from '../proxy/target.ts';

const LOAD: ProxyCase = { name: 'gateway', kind: 'json', connections: 32 };
/** Short, so that alternating gateways have the same noise. */
const SECONDS = 1;
/** Warm-up until code is compiled. */
const WARM_UP_ROUNDS = 3;
/** Rounds of one set of gateways; then new ones begin. Garbage collection varies between processes: one was seen to take 8 µs a request more than
 *  an identical one. */
const ROUNDS_OF_A_SET = 6;

/** What telemetry adds to a request in a gateway under load, its writer and its exports included. Gateways take turns in an order that rotates and
 *  reverses. The mean of each gateway's quietest quarter of rounds counts, because a busy machine only adds time. */
export async function gatewayRows(rounds: number, collector: string, progress: Progress): Promise<BenchRow[]> {
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: collector };
  const modes = { off: {}, 'ratio-0': { ...on, OTEL_TRACES_SAMPLER_ARG: '0' }, 'ratio-1': on };
  const costs = new Map(Object.keys(modes).map((mode) => [mode, [] as number[]]));
  for (let done = 0; done < rounds; done += ROUNDS_OF_A_SET)
    await runSet(modes, Math.min(ROUNDS_OF_A_SET, rounds - done), costs, progress);
  return rounds === 0 ? [] : rowsOf(costs);
}

async function runSet(
  modes: Readonly<Record<string, Readonly<Record<string, string>>>>,
  rounds: number,
  costs: ReadonlyMap<string, number[]>,
  progress: Progress,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'vitrine-bench-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const mock = stack.use(await forked(new URL('../proxy/mock-process.ts', import.meta.url)));
  const loader = stack.use(await forked(new URL('../proxy/load-process.ts', import.meta.url)));
  const targets: Target[] = [];
  for (const [mode, variables] of Object.entries(modes)) {
    const home = join(dir, mode);
    await mkdir(home);
    targets.push(await startGatewayTarget(mode, { home, upstream: `http://127.0.0.1:${mock.port}`, variables }, stack));
  }
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round += 1) {
    const first = round % targets.length;
    const rotated = [...targets.slice(first), ...targets.slice(0, first)];
    for (const target of round % 2 === 0 ? rotated : rotated.toReversed()) {
      const counted = Math.max(0, round - WARM_UP_ROUNDS + 1);
      const measured = await measure({ mock, loader }, target, LOAD, { round: counted, seconds: SECONDS });
      progress(progressOf(measured));
      if (counted > 0) costs.get(target.name)?.push((measured.cpuMicros ?? Number.NaN) / measured.load.sent);
    }
  }
}

function rowsOf(costs: ReadonlyMap<string, readonly number[]>): BenchRow[] {
  const off = costs.get('off') ?? [];
  return [...costs].flatMap(([mode, of]) => {
    const row = (metric: string, value: number) => ({ case: LOAD.name, metric: `${mode}.${metric}`, value, unit: 'us' });
    const cost = row('quiet_quarter_cpu_us_per_request', quietQuarter(of));
    if (mode === 'off') return [cost];
    const differences = of.map((one, round) => one - (off[round] ?? Number.NaN));
    return [
      cost,
      row('quiet_quarter_telemetry_us_per_request', quietQuarter(of) - quietQuarter(off)),
      row('median_telemetry_us_per_request', median(differences)),
    ];
  });
}

/** The mean of the lowest quarter of `values`. */
function quietQuarter(values: readonly number[]): number {
  const lowest = values.toSorted((a, b) => a - b).slice(0, Math.ceil(values.length / 4));
  return lowest.reduce((sum, value) => sum + value, 0) / lowest.length;
}
