import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchRow, Progress } from '../bench.ts';
import { forked, type Forked } from '../forked.ts';
import { median } from '../median.ts';
import type { CrowdOrder, CrowdResult, StoreLoadResult } from './load.ts';
import type { StoreApiPlan } from './store-api-plan.ts';
import { WORKSPACES } from './store-data.ts';
import { KEYS } from './tokens.ts';

/** Time until the others have connected and each of their requests waits for its turn. */
const AHEAD_MS = 4_000;
const MAX_RATIO = 2;
const CROWD_CONNECTIONS = 1_300;
/** Of the other workspace: more than the half of the database's connections that it may use. */
const WORKSPACE_CONNECTIONS = 40;
const OTHER = `'ws_' || lpad('1', 26, '0')`;
/** The measured client has key 0 of workspace 0. These all belong to workspace 1. */
const KEYS_OF_OTHER = Array.from({ length: KEYS / WORKSPACES }, (_, n) => n * WORKSPACES + 1);

/** One client with a key, and the concurrent load of others. `bound`: the quantile that may at most double. */
interface Case {
  readonly name: string;
  readonly bound: 'p50' | 'p95';
  readonly others: Pick<CrowdOrder, 'connections' | 'keys'>;
  /** Of the other workspace: `partner` has the limits of the specification, and `growth` here none. */
  readonly plan: 'partner' | 'growth';
  /** Whether the counters of the other workspace are locked meanwhile. */
  readonly isLocked: boolean;
}
const CASES: readonly Case[] = [
  {
    name: `get, 1 in flight beside ${CROWD_CONNECTIONS} connections with unknown keys`,
    bound: 'p95',
    others: { connections: CROWD_CONNECTIONS },
    plan: 'growth',
    isLocked: false,
  },
  {
    name: `get, 1 in flight beside a workspace with ${WORKSPACE_CONNECTIONS} in flight`,
    bound: 'p50',
    others: { connections: WORKSPACE_CONNECTIONS, keys: KEYS_OF_OTHER },
    plan: 'partner',
    isLocked: false,
  },
  {
    name: `get, 1 in flight beside a locked workspace with ${WORKSPACE_CONNECTIONS} in flight`,
    bound: 'p50',
    others: { connections: WORKSPACE_CONNECTIONS, keys: KEYS_OF_OTHER },
    plan: 'growth',
    isLocked: true,
  },
];

export interface BesideOthers {
  readonly port: number;
  readonly client: Forked;
  /** As its owner. */
  readonly pool: PostgresPool;
  readonly plan: StoreApiPlan;
}

/** The latency of one paying client, alone and next to overloading clients, in turns. */
export async function runBesideOthers(of: BesideOthers, progress: Progress) {
  await using crowd = await forked(new URL('./crowd-process.ts', import.meta.url));
  const results = [];
  for (const one of CASES) {
    await of.pool.execute(`UPDATE workspaces SET plan = $1 WHERE id = ${OTHER}`, [one.plan]);
    results.push(await runCase(one, { ...of, crowd }, progress));
  }
  return { rows: results.flatMap(({ rows }) => rows), broken: results.flatMap(({ broken }) => broken) };
}

async function runCase(
  one: Case,
  { port, client, crowd, pool, plan }: BesideOthers & { readonly crowd: Forked },
  progress: Progress,
): Promise<{ readonly rows: BenchRow[]; readonly broken: string[] }> {
  const { seconds, stores, rounds } = plan;
  const pay = async () => (await client.call({ kind: 'get', connections: 1, keys: 1, port, stores, seconds })) as StoreLoadResult;
  const crowded = { ...one.others, port, stores, seconds: AHEAD_MS / 1_000 + seconds };
  const [alone, beside, crowds]: [StoreLoadResult[], StoreLoadResult[], CrowdResult[]] = [[], [], []];
  await pay();
  for (let round = 1; round <= rounds; round += 1) {
    const first = await pay();
    const [second, sent] = await whileLocked(one.isLocked ? pool : undefined, crowded.seconds, async () => {
      const sending = crowd.call(crowded);
      await sleep(AHEAD_MS);
      return [await pay(), (await sending) as CrowdResult] as const;
    });
    alone.push(first);
    beside.push(second);
    crowds.push(sent);
    progress(`${one.name}  round ${round}  alone ${figures(first)}  beside ${figures(second)}  others ${statusText(sent)}`);
  }
  return judged(one, alone, beside, crowds);
}

/** Without a pool nothing is locked. */
async function whileLocked<T>(pool: PostgresPool | undefined, seconds: number, work: () => Promise<T>): Promise<T> {
  if (pool === undefined) return work();
  return pool.transaction(async (transaction) => {
    await transaction.query(`SELECT FROM usage_counters WHERE workspace_id = ${OTHER} FOR UPDATE`);
    // A transaction that is idle would be ended.
    const [result] = await Promise.all([work(), transaction.query('SELECT pg_sleep($1)', [seconds])]);
    return result;
  });
}

function judged(
  { name, bound }: Case,
  alone: readonly StoreLoadResult[],
  beside: readonly StoreLoadResult[],
  crowds: readonly CrowdResult[],
) {
  const row = (metric: Case['bound'], read: (load: StoreLoadResult) => number): BenchRow => {
    const [value, baseline] = [median(beside.map(read)), median(alone.map(read))];
    return { case: name, metric: `beside.${metric}`, value, unit: 'ms', baseline, ratio: value / baseline };
  };
  const quantiles = { p50: row('p50', ({ p50Ms }) => p50Ms), p95: row('p95', ({ p95Ms }) => p95Ms) };
  const statuses = sumOf(crowds);
  const failed = statuses.get('500') ?? 0;
  const errors = [...alone, ...beside].flatMap(({ errorSamples }) => errorSamples);
  const { ratio = Number.NaN } = quantiles[bound];
  const broken = [];
  if (errors.length > 0) broken.push(`${name}: the paying client got ${errors.join('; ')}`);
  if (failed > 0) broken.push(`${name}: ${failed} responses 500`);
  if (!(ratio <= MAX_RATIO)) broken.push(`${name}: ${bound} is ${ratio.toFixed(2)} times that alone, not ${MAX_RATIO}`);
  const rate = median(crowds.map(({ reqPerSec }) => reqPerSec));
  const rows: BenchRow[] = [
    quantiles.p50,
    quantiles.p95,
    { case: name, metric: 'others.req_per_s', value: rate, unit: 'req/s' },
    ...[...statuses].map(([status, value]) => ({ case: name, metric: `others.${status}`, value, unit: 'responses' })),
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
