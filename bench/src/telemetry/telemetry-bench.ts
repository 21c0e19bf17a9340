import { parseArgs } from 'node:util';

import type { Bench, BenchOutcome, BenchRow, Progress } from '../bench.ts';
import { forked } from '../forked.ts';
import { median } from '../median.ts';
import { whole } from '../proxy/proxy-plan.ts';
import { gatewayRows } from './gateway-rows.ts';
import type { RecorderResult, RecorderOrder } from './recorder-process.ts';

/** Limit of telemetry per request, in microseconds of process CPU, by sampling ratio. */
const BUDGET_US = { 'ratio-0': 5, 'ratio-1': 30 } as const;
const MODES = ['off', 'ratio-0', 'ratio-1', 'ratio-1-json', 'ratio-1-grpc'] as const;
type Mode = (typeof MODES)[number];

interface Plan {
  readonly rounds: number;
  readonly requests: number;
  readonly gatewayRounds: number;
}

const OPTIONS = [
  ['--rounds N', 'rounds per mode, default 3; figures are medians over rounds'],
  ['--requests N', 'requests per round, default 200000'],
  ['--gateway-rounds N', 'rounds of 1 s through a gateway, default 24; 0 for none'],
] as const;

/** The cost of telemetry. In isolation: a process that only records requests, with a collector in another. The same process with telemetry off is
 *  the baseline, and the difference is the cost. In a gateway under load: these figures include all of its noise and are accurate to some 7 µs, so
 *  they are shown but not judged. */
export const telemetryBench: Bench = {
  name: 'telemetry',
  sentence: 'CPU of spans and metrics per request, export to a collector included',
  options: OPTIONS,
  examples: ['telemetry', 'telemetry --rounds 1 --requests 20000'],
  prepare(args) {
    const plan = readPlan(args);
    return 'problem' in plan ? plan : { run: (progress) => run(plan, progress) };
  },
};

function readPlan(args: readonly string[]): Plan | { readonly problem: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        rounds: { type: 'string', default: '3' },
        requests: { type: 'string', default: '200000' },
        'gateway-rounds': { type: 'string', default: '24' },
      },
    });
    return {
      rounds: whole('--rounds', values.rounds, 1),
      requests: whole('--requests', values.requests, 1),
      gatewayRounds: whole('--gateway-rounds', values['gateway-rounds'], 0),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

async function run(plan: Plan, progress: Progress): Promise<BenchOutcome> {
  await using collector = await forked(new URL('./collector-process.ts', import.meta.url));
  const urls = (await collector.call({})) as { readonly http: string; readonly grpc: string };
  const results = new Map<Mode, RecorderResult[]>(MODES.map((mode) => [mode, []]));
  // Modes take turns, so that noise of the machine affects all alike.
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const mode of MODES) {
      const order: RecorderOrder = { otel: settingsOf(mode, urls), requests: plan.requests };
      // A process for each, so that compiled code and collections of one mode do not affect the next.
      await using recorder = await forked(new URL('./recorder-process.ts', import.meta.url));
      const result = (await recorder.call(order)) as RecorderResult;
      results.get(mode)?.push(result);
      progress(`${mode}  ${(result.cpuMicros / plan.requests).toFixed(2)} µs/request  lost ${result.lost} of the spans`);
    }
  }
  const { rows, broken } = outcomeOf(results, plan.requests);
  return { rows: [...rows, ...(await gatewayRows(plan.gatewayRounds, urls.http, progress))], broken };
}

function settingsOf(mode: Mode, urls: { readonly http: string; readonly grpc: string }): RecorderOrder['otel'] {
  const on = { enabled: true, endpoint: urls.http };
  switch (mode) {
    case 'off':
      return undefined;
    case 'ratio-0':
      return { ...on, sampling_ratio: 0 };
    case 'ratio-1':
      return on;
    case 'ratio-1-json':
      return { ...on, protocol: 'http/json' };
    case 'ratio-1-grpc':
      return { ...on, protocol: 'grpc', endpoint: urls.grpc };
    default: {
      const unexpected: never = mode;
      return unexpected;
    }
  }
}

function outcomeOf(results: ReadonlyMap<Mode, readonly RecorderResult[]>, requests: number): BenchOutcome {
  const cost = (mode: Mode) => median((results.get(mode) ?? []).map(({ cpuMicros }) => cpuMicros / requests));
  const rows: BenchRow[] = MODES.flatMap((mode) => {
    const own = results.get(mode) ?? [];
    return [
      { case: 'telemetry', metric: `${mode}.cpu_us_per_request`, value: cost(mode), unit: 'us' },
      { case: 'telemetry', metric: `${mode}.telemetry_us_per_request`, value: cost(mode) - cost('off'), unit: 'us' },
      { case: 'telemetry', metric: `${mode}.rss_mib`, value: median(own.map(({ rssMib }) => rssMib)), unit: 'mib' },
      { case: 'telemetry', metric: `${mode}.lost_spans`, value: own.reduce((sum, { lost }) => sum + lost, 0), unit: 'spans' },
    ];
  });
  const broken = Object.entries(BUDGET_US).flatMap(([mode, budget]) => {
    const spent = cost(mode as Mode) - cost('off');
    return spent <= budget ? [] : [`${mode} costs ${spent.toFixed(1)} µs of CPU a request, at most ${budget} were promised`];
  });
  return { rows, broken };
}
