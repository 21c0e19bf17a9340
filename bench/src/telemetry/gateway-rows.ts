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
const SECONDS = 2;

/** What telemetry adds to a request in a gateway under load, its writer and its exports included: of gateways that take turns, the
 *  median of the differences within a round. */
export async function gatewayRows(rounds: number, collector: string, progress: Progress): Promise<BenchRow[]> {
  if (rounds === 0) return [];
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'vitrine-bench-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const mock = stack.use(await forked(new URL('../proxy/mock-process.ts', import.meta.url)));
  const loader = stack.use(await forked(new URL('../proxy/load-process.ts', import.meta.url)));
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: collector };
  const modes = { off: {}, 'ratio-0': { ...on, OTEL_TRACES_SAMPLER_ARG: '0' }, 'ratio-1': on };
  const targets: Target[] = [];
  for (const [mode, variables] of Object.entries(modes)) {
    const home = join(dir, mode);
    await mkdir(home);
    targets.push(await startGatewayTarget(mode, { home, upstream: `http://127.0.0.1:${mock.port}`, variables }, stack));
  }
  const costs = new Map(targets.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1) {
    const first = round % targets.length;
    for (const target of [...targets.slice(first), ...targets.slice(0, first)]) {
      const measured = await measure({ mock, loader }, target, LOAD, { round, seconds: SECONDS });
      progress(progressOf(measured));
      // The warm-up does not count.
      if (round > 0) costs.get(target.name)?.push((measured.cpuMicros ?? Number.NaN) / measured.load.sent);
    }
  }
  const off = costs.get('off') ?? [];
  return [...costs].flatMap(([mode, of]) => [
    { case: LOAD.name, metric: `${mode}.cpu_us_per_request`, value: median(of), unit: 'us' },
    ...(mode === 'off'
      ? []
      : [
          {
            case: LOAD.name,
            metric: `${mode}.telemetry_us_per_request`,
            value: median(of.map((cost, round) => cost - (off[round] ?? Number.NaN))),
            unit: 'us',
          },
        ]),
  ]);
}
