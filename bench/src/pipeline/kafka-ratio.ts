import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchOutcome, BenchRow, Progress } from '../bench.ts';
import { forked } from '../forked.ts';
import { brokenBy, measure, progressOf, type Extent, type Measure } from '../proxy/measure.ts';
import { PROXY_CASES, WARM_UP_REQUESTS, type ProxyCase } from '../proxy/proxy-plan.ts';
import { proxyRows } from '../proxy/proxy-rows.ts';
import { startGatewayTarget, startTarget, type Target } from '../proxy/target.ts';
import { warmUps } from '../proxy/warm-up.ts';
import { TOPIC, type Servers } from './servers.ts';

const CASES = PROXY_CASES.filter(({ name }) => name === 'json-32' || name === 'json-256');
const GATEWAY = 'gateway+kafka';
const ROUND_SECONDS = 1;

/** The proxy's rate while publishing: a publishing gateway compared with the bare forwarder, as in the proxy bench. */
export async function kafkaRatio(rounds: number, servers: Servers, home: string, progress: Progress): Promise<BenchOutcome> {
  if (rounds === 0) return { rows: [], broken: [] };
  await using stack = new AsyncDisposableStack();
  const mock = stack.use(await forked(new URL('../proxy/mock-process.ts', import.meta.url)));
  const loader = stack.use(await forked(new URL('../proxy/load-process.ts', import.meta.url)));
  const bare = await startTarget('bare', mock, home, stack);
  const gateway = await startPublishingGateway(servers, home, `http://127.0.0.1:${mock.port}`, stack);
  const [measures, broken]: [Measure[], string[]] = [[], []];
  const run = async (target: Target, item: ProxyCase, extent: Extent) => {
    const measured = await measure({ mock, loader }, target, item, extent);
    progress(progressOf(measured));
    broken.push(...brokenBy(measured));
    measures.push(measured);
  };
  for (const target of [bare, gateway])
    for (const { item, extent } of warmUps(CASES, WARM_UP_REQUESTS)) await run(target, item, extent);
  for (const item of CASES) {
    for (let round = 0; round <= rounds; round += 1) {
      for (const target of round % 2 === 0 ? [bare, gateway] : [gateway, bare])
        await run(target, item, { round, seconds: ROUND_SECONDS });
    }
  }
  return { rows: CASES.flatMap((item) => rowsOf(item, measures)), broken };
}

async function startPublishingGateway(
  { brokers, dsn }: Servers,
  home: string,
  upstream: string,
  stack: AsyncDisposableStack,
): Promise<Target> {
  const folder = join(home, randomUUID());
  await mkdir(folder);
  const variables = {
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_STORAGE_DSN: dsn,
    SVC_QUEUE_DRIVER: 'kafka',
    SVC_QUEUE_BROKERS: brokers.join(','),
    SVC_QUEUE_TOPIC: TOPIC,
    SVC_QUEUE_SPOOL_PATH: join(folder, 'spool'),
  };
  const target = await startGatewayTarget(GATEWAY, { home: folder, upstream, variables }, stack);
  const published = () => writtenTotal(target.port);
  return { ...target, storedRows: published };
}

/** Traces that the broker or the spool has accepted. */
async function writtenTotal(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/api/diagnostics/trace-pipeline`);
  const { diagnostics } = (await response.json()) as { diagnostics: { written_total: number } };
  return diagnostics.written_total;
}

/** The rows of the proxy bench, and the ratio under its published name. */
function rowsOf(item: ProxyCase, measures: readonly Measure[]): BenchRow[] {
  const rows = proxyRows(
    measures.filter((one) => one.case === item.name),
    'speed',
  );
  const { ratio } = rows.find(({ metric }) => metric === `${GATEWAY}.req_per_s`) ?? {};
  if (ratio === undefined) return rows;
  return [...rows, { case: item.name, metric: `${GATEWAY}.kafka_ratio`, value: ratio, unit: 'of bare' }];
}
