import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchRow, Progress } from '../bench.ts';
import { forked, type Forked } from '../forked.ts';
import { median } from '../median.ts';
import type { CrowdResult, StoreLoadResult } from './load.ts';
import type { StoreApiPlan } from './store-api-plan.ts';

/** Connections without a key beside one client with one. */
const CROWD_CONNECTIONS = 1_300;
/** Until the crowd has connected and every request of it waits for its turn. */
const CROWD_AHEAD_MS = 4_000;
const MAX_P95_RATIO = 2;
const CASE = `get, 1 in flight beside ${CROWD_CONNECTIONS} connections with unknown keys`;

/** The latency of one client that pays, alone and beside a crowd that has no key, in turns. */
export async function runCrowd(
  { port, client, plan }: { readonly port: number; readonly client: Forked; readonly plan: StoreApiPlan },
  progress: Progress,
): Promise<{ readonly rows: BenchRow[]; readonly broken: string[] }> {
  await using crowd = await forked(new URL('./crowd-process.ts', import.meta.url));
  const { seconds, stores, rounds } = plan;
  const pay = async () => (await client.call({ kind: 'get', connections: 1, keys: 1, port, stores, seconds })) as StoreLoadResult;
  const [alone, beside, crowds]: [StoreLoadResult[], StoreLoadResult[], CrowdResult[]] = [[], [], []];
  await pay();
  for (let round = 1; round <= rounds; round += 1) {
    const first = await pay();
    const sending = crowd.call({ port, connections: CROWD_CONNECTIONS, seconds: CROWD_AHEAD_MS / 1_000 + seconds });
    await sleep(CROWD_AHEAD_MS);
    const second = await pay();
    const sent = (await sending) as CrowdResult;
    alone.push(first);
    beside.push(second);
    crowds.push(sent);
    progress(`${CASE}  round ${round}  alone ${figures(first)}  beside ${figures(second)}  crowd ${statusText(sent)}`);
  }
  return judged(alone, beside, crowds);
}

function judged(alone: readonly StoreLoadResult[], beside: readonly StoreLoadResult[], crowds: readonly CrowdResult[]) {
  const row = (metric: 'p50' | 'p95', read: (load: StoreLoadResult) => number): BenchRow => {
    const [value, baseline] = [median(beside.map(read)), median(alone.map(read))];
    return { case: CASE, metric: `beside.${metric}`, value, unit: 'ms', baseline, ratio: value / baseline };
  };
  const p95 = row('p95', ({ p95Ms }) => p95Ms);
  const rate = median(crowds.map(({ reqPerSec }) => reqPerSec));
  const failed = sumOf(crowds).get('500') ?? 0;
  const errors = [...alone, ...beside].flatMap(({ errorSamples }) => errorSamples);
  const broken = [];
  if (errors.length > 0) broken.push(`${CASE}: the paying client got ${errors.join('; ')}`);
  if (failed > 0) broken.push(`${CASE}: ${failed} responses 500`);
  if (!((p95.ratio ?? Number.NaN) <= MAX_P95_RATIO))
    broken.push(`${CASE}: p95 is ${p95.ratio?.toFixed(2)} times that alone, not ${MAX_P95_RATIO}`);
  const rows: BenchRow[] = [
    row('p50', ({ p50Ms }) => p50Ms),
    p95,
    { case: CASE, metric: 'crowd.req_per_s', value: rate, unit: 'req/s' },
    ...[...sumOf(crowds)].map(([status, value]) => ({ case: CASE, metric: `crowd.${status}`, value, unit: 'responses' })),
  ];
  return { rows, broken };
}

const figures = ({ p50Ms, p95Ms, errors }: StoreLoadResult) =>
  `p50 ${p50Ms.toFixed(2)} p95 ${p95Ms.toFixed(2)} ms${errors === 0 ? '' : `, ${errors} ERRORS`}`;

const statusText = (crowd: CrowdResult) => [...sumOf([crowd])].map(([status, count]) => `${count} x ${status}`).join(', ');

/** Responses by status. */
function sumOf(crowds: readonly CrowdResult[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { statuses } of crowds)
    for (const [status, count] of Object.entries(statuses)) sums.set(status, (sums.get(status) ?? 0) + count);
  return sums;
}
