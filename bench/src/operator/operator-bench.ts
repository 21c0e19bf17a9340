import { Kubectl } from '@vitrine/e2e/cluster/kubectl';
import { freePort } from '@vitrine/e2e/running-process';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Bench, BenchOutcome, BenchRow, Progress } from '../bench.ts';
import { openBenchNamespace, type BenchNamespace } from './bench-namespace.ts';
import { startMeasuredOperator, type MeasuredOperator } from './operator-process.ts';

const CASE = 'operator';
const KEYS = 5_000;
const SAMPLES = 200;
/** Targets for 5,000 keys. */
const COLD_START_S = 600;
const RSS_MIB = 300;
const READY_P95_MS = 2_000;
const GIVE_UP_MS = 1_800_000;
const POLL_MS = 500;
const PROGRESS_MS = 30_000;

interface Plan {
  readonly keys: number;
  readonly samples: number;
}

export const operatorBench: Bench = {
  name: 'operator',
  sentence: 'A cold start with many GatewayKeys on the API server of KUBECONFIG, and the time from apply to Ready at rest.',
  options: [
    ['--keys N', `GatewayKeys without Secrets and rows; ${KEYS} unless given`],
    ['--samples N', `keys that are applied one after the other afterwards; ${SAMPLES} unless given`],
  ],
  examples: ['operator', 'operator --keys 500 --samples 20'],
  prepare(args) {
    const plan = planOf(args);
    if (typeof plan === 'string') return { problem: plan };
    const kubeconfig = process.env['KUBECONFIG'] ?? '';
    if (kubeconfig === '')
      return { problem: 'Set KUBECONFIG to a cluster without Vitrine; everything is made in a namespace of its own.' };
    return { run: (progress) => measure(kubeconfig, plan, progress) };
  },
};

function planOf(args: readonly string[]): Plan | string {
  try {
    const string = { type: 'string' } as const;
    const { values } = parseArgs({ args: [...args], options: { keys: string, samples: string } });
    const plan = { keys: Number(values.keys ?? KEYS), samples: Number(values.samples ?? SAMPLES) };
    const isWhole = Object.values(plan).every((count) => Number.isInteger(count) && count >= 1 && count <= 20_000);
    return isWhole ? plan : '--keys and --samples are whole numbers from 1 to 20000.';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const row = (metric: string, value: number, unit: string): BenchRow => ({ case: CASE, metric, value, unit });

async function measure(kubeconfig: string, { keys, samples }: Plan, progress: Progress): Promise<BenchOutcome> {
  await using database = await templateDatabase();
  await using folder = await temporaryFolder('vitrine-bench-operator');
  await using place = await openBenchNamespace(new Kubectl(kubeconfig, `vitrine-bench-${Date.now()}`));
  progress(`creating ${keys} GatewayKeys`);
  await place.createKeys('cold', keys);
  const port = await freePort();
  const startedAt = performance.now();
  await using operator = await startMeasuredOperator({
    kubeconfig,
    namespace: place.kubectl.namespace,
    dsn: database.dsn,
    folder: folder.path,
    port,
  });
  await untilPassed(operator, keys, progress);
  const coldStartS = (performance.now() - startedAt) / 1_000;
  const ready = await place.readyKeys();
  const { success, other } = await operator.passes();
  progress(
    `${ready} of ${keys} are Ready after ${coldStartS.toFixed(1)} s and ${success + other} passes; now ${samples} at rest`,
  );
  const readyMs = await samplesAtRest(place, samples);
  progress(`${samples} at rest are Ready; now the database loses the rows of all`);
  const registeredS = await registeredAgain(database, keys + samples);
  const rssMib = await operator.peakRss();
  const p95 = readyMs[Math.ceil(samples * 0.95) - 1] ?? Number.NaN;
  return {
    rows: [
      row('cold.ready_s', coldStartS, 's'),
      row('cold.keys_per_s', keys / coldStartS, 'keys/s'),
      row('cold.passes_per_key', (success + other) / keys, 'passes/key'),
      row('process.peak_rss', rssMib, 'MiB'),
      row('rest.ready_p50_ms', readyMs[Math.ceil(samples / 2) - 1] ?? Number.NaN, 'ms'),
      row('rest.ready_p95_ms', p95, 'ms'),
      row('lost.registered_s', registeredS, 's'),
    ],
    broken: [
      ...(ready === keys ? [] : [`${keys - ready} of ${keys} GatewayKeys are not Ready`]),
      ...(coldStartS <= COLD_START_S ? [] : [`a cold start took ${coldStartS.toFixed(0)} s of ${COLD_START_S}`]),
      ...(rssMib < RSS_MIB ? [] : [`the operator had ${rssMib.toFixed(0)} MiB of ${RSS_MIB}`]),
      ...(p95 < READY_P95_MS ? [] : [`from apply to Ready took ${p95.toFixed(0)} ms of ${READY_P95_MS} (p95)`]),
    ],
  };
}

async function untilPassed(operator: MeasuredOperator, keys: number, progress: Progress): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  let saidAt = performance.now();
  for (let { success } = await operator.passes(); success < keys; { success } = await operator.passes()) {
    if (performance.now() > deadline) throw new Error(`only ${success} of ${keys} passes after ${GIVE_UP_MS / 1_000} s`);
    if (performance.now() - saidAt > PROGRESS_MS) {
      saidAt = performance.now();
      progress(`${success} of ${keys}, ${(await operator.peakRss()).toFixed(0)} MiB`);
    }
    await wait(POLL_MS);
  }
}

/** Milliseconds, sorted; with two starts of kubectl each. */
async function samplesAtRest(place: BenchNamespace, samples: number): Promise<readonly number[]> {
  const took: number[] = [];
  for (let at = 0; at < samples; at += 1) {
    const startedAt = performance.now();
    await place.createKeys(`rest-${at}`, 1);
    await place.kubectl.wait('condition=Ready', [`gatewaykey/rest-${at}-0`], 60_000);
    took.push(performance.now() - startedAt);
  }
  return took.toSorted((a, b) => a - b);
}

/** Seconds from the loss of all rows until they are there again. */
async function registeredAgain({ dsn }: TestDatabase, keys: number): Promise<number> {
  await using pool = new PostgresPool({ dsn, applicationName: 'bench' });
  await pool.execute('DELETE FROM gateway_keys');
  const startedAt = performance.now();
  const count = async () => (await pool.query<{ n: number }>('SELECT count(*) AS n FROM gateway_keys'))[0]?.n ?? 0;
  for (let found = 0; found < keys; found = await count()) {
    if (performance.now() - startedAt > GIVE_UP_MS) throw new Error(`only ${found} of ${keys} lost keys are registered again`);
    await wait(POLL_MS);
  }
  return (performance.now() - startedAt) / 1_000;
}
