import { join, resolve } from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { BenchRow, Progress } from '../bench.ts';
import { median } from '../median.ts';
import { startGateway, type GatewayProcess } from '../proxy/gateway-process.ts';
import type { AnalyticsPlan } from './analytics-plan.ts';
import { loadTraces } from './load-traces.ts';
import { ENDPOINTS, pathOf, RANGES, shareOf, WARM_UPS } from './queries.ts';
import { RawClient } from './raw-client.ts';

const NAME = 'analytics of all, over HTTP, of before';

/** Compares analytics of this checkout with those of another, each with a gateway and a file of its own code. Both take turns, each first in every
 *  other one: figures are medians, ratios the medians within a turn, and over all queries their geometric mean. */
export async function compareGateways(
  path: string,
  home: string,
  plan: AnalyticsPlan & { readonly against: URL },
  progress: Progress,
) {
  const other = new URL('bench/src/analytics/load-traces.ts', plan.against);
  const loaders = [{ loadTraces }, (await import(other.href)) as { readonly loadTraces: typeof loadTraces }];
  await using stack = new AsyncDisposableStack();
  const clients: RawClient[] = [];
  let oldest = 0;
  for (const [at, { loadTraces: load }] of loaders.entries()) {
    const file = at === 0 ? path : `${path}.before`;
    const { store, from } = await load(file, plan, progress);
    await store[Symbol.asyncDispose]();
    oldest = Math.max(oldest, from);
    const gateway = await startStorageGateway(fileVariables(file), join(home, String(at)), at === 0 ? undefined : plan.against);
    stack.defer(() => gateway.stop());
    clients.push(stack.use(new RawClient(gateway.port)));
  }
  const rows: BenchRow[] = [];
  for (const [endpoint, query] of ENDPOINTS) {
    for (const [rangeName, range] of RANGES) {
      const run = async (turn: number): Promise<number[]> => {
        const path = pathOf({ ...query, ...range(oldest, plan.days, shareOf(turn)) });
        const times: number[] = [];
        for (const at of turn % 2 === 0 ? [0, 1] : [1, 0]) times[at] = await timeOf(clients[at]!, path);
        return times;
      };
      for (let turn = 0; turn < WARM_UPS; turn += 1) await run(turn);
      const turns: number[][] = [];
      for (let turn = 0; turn < plan.repeats; turn += 1) turns.push(await run(turn));
      rows.push(rowOf(`${endpoint}, ${rangeName}`, turns));
      progress(`${NAME}  ${endpoint}, ${rangeName}  ${rows.at(-1)?.ratio?.toFixed(3)}`);
    }
  }
  const mean = Math.exp(rows.reduce((sum, { ratio = Number.NaN }) => sum + Math.log(ratio), 0) / rows.length);
  return [...rows, { case: NAME, metric: 'geometric mean.ratio', value: mean, unit: 'ratio' }];
}

function rowOf(subject: string, turns: readonly (readonly number[])[]): BenchRow {
  const timesAt = (at: number) => turns.map((times) => times[at] ?? Number.NaN);
  const [mine, theirs] = [timesAt(0), timesAt(1)];
  const ratio = median(mine.map((time, turn) => time / (theirs[turn] ?? Number.NaN)));
  return { case: NAME, metric: `${subject}.p50`, value: median(mine), unit: 'ms', baseline: median(theirs), ratio };
}

async function timeOf(client: RawClient, path: string): Promise<number> {
  const started = performance.now();
  await client.get(path);
  return performance.now() - started;
}

/** The environment variables of a gateway on a file of traces. */
export function fileVariables(file: string): Readonly<Record<string, string>> {
  return { SVC_STORAGE_PATH: resolve(file) };
}

/** Starts a gateway on a store of traces, which it keeps. */
export async function startStorageGateway(
  storage: Readonly<Record<string, string>>,
  home: string,
  checkout?: URL,
): Promise<GatewayProcess> {
  await mkdir(home, { recursive: true });
  const variables = { ...storage, SVC_TRACING_RETENTION_DAYS: '3650' };
  const gateway = await startGateway({ home, upstream: 'http://127.0.0.1:9', variables, checkout });
  using client = new RawClient(gateway.port);
  await client.get('/api/traces?limit=1');
  return gateway;
}
