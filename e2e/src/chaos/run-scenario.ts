import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ChaosServers } from './chaos-servers.ts';
import { LagMonitor, untilDrained } from './drain.ts';
import { GATEWAY_TOKENS } from './gateway-keys.ts';
import { judge, type StoredTrace, type Verdict } from './judge.ts';
import { startPipeline, type Pipeline } from './pipeline.ts';
import { quotaDifferences } from './quota-differences.ts';
import { rollUpDifferences } from './roll-up-differences.ts';
import type { Scenario } from './scenarios.ts';
import { startTraffic, type Exchange } from './traffic.ts';

export interface ScenarioOptions {
  readonly servers: ChaosServers;
  /** Of database, topic and logs. */
  readonly name: string;
  readonly folder: string;
  readonly seconds: number;
  readonly rate: number;
  readonly drainTimeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

export interface ScenarioResult extends Verdict {
  readonly scenario: string;
  readonly answeredPerSecond: number;
  readonly rollUpDifferences: number;
  readonly quotaDifferences: number;
  readonly countedDrops: number;
  readonly deadLetters: number;
  readonly maxLag: number;
  readonly drainSeconds: number;
}

/** Runs the load with the faults of the scenario, waits until all is written, and judges the result. */
export async function runScenario(scenario: Scenario, options: ScenarioOptions): Promise<ScenarioResult> {
  const { name, onProgress, signal, seconds } = options;
  const folder = join(options.folder, name);
  await mkdir(folder, { recursive: true });
  await using traffic = await startTraffic();
  const { writers, spoolMaxBytes } = scenario;
  await using pipeline = await startPipeline({ ...options, folder, upstream: traffic.upstream, writers, spoolMaxBytes });
  using lag = new LagMonitor(pipeline);
  const order = {
    urls: pipeline.gateways.map(({ running }) => running.url),
    gatewayKeys: GATEWAY_TOKENS,
    rate: options.rate,
    seconds,
    run: name,
  };
  const report = (sent: number, answered: number) => onProgress(`${sent} requests sent, ${answered} answered`);
  const startedAt = performance.now();
  const until = (share: number) =>
    wait(Math.max(0, startedAt + share * seconds * 1_000 - performance.now()), undefined, { signal });
  const [exchanges] = await Promise.all([traffic.run(order, report, signal), scenario.run(pipeline, until)]);
  const drainFrom = performance.now();
  const isDrained = await untilDrained(pipeline, { timeoutMs: options.drainTimeoutMs, signal, onProgress });
  const drainSeconds = (performance.now() - drainFrom) / 1_000;
  const result = await judgePipeline(pipeline, { exchanges, isDrained, mayDrop: scenario.mayDrop });
  if (result.broken.length > 0) await writeLogs(pipeline, folder);
  const answeredPerSecond = result.answered / seconds;
  return { ...result, scenario: scenario.name, answeredPerSecond, maxLag: lag.maxLag, drainSeconds };
}

async function judgePipeline(
  pipeline: Pipeline,
  seen: { readonly exchanges: readonly Exchange[]; readonly isDrained: boolean; readonly mayDrop: boolean },
) {
  const { database, gateways, topic } = pipeline;
  const stored = await database.query<StoredTrace>(
    `SELECT b.metadata::jsonb ->> 'correlation_id' AS id, total_tokens AS tokens
     FROM traces LEFT JOIN trace_bodies b USING (id, created_at)`,
  );
  const diagnostics = await Promise.all(gateways.map(({ running }) => running.diagnostics()));
  const findings = {
    ...seen,
    stored,
    killedAt: gateways.map(({ killedAt }) => killedAt),
    queueCapacity: diagnostics[0]?.queue_capacity ?? 0,
    countedDrops: diagnostics.reduce((sum, { total_dropped_total: dropped }) => sum + dropped, 0),
    deadLetters: await topic.deadLetters(),
    rollUpDifferences: await rollUpDifferences(database),
    quotaDifferences: await quotaDifferences(pipeline),
  };
  return {
    ...judge(findings),
    countedDrops: findings.countedDrops,
    deadLetters: findings.deadLetters,
    rollUpDifferences: [...findings.rollUpDifferences.values()].reduce((sum, rows) => sum + rows, 0),
    quotaDifferences: findings.quotaDifferences.length,
  };
}

async function writeLogs({ gateways, writers }: Pipeline, folder: string): Promise<void> {
  for (const { name, log } of [...gateways, ...writers]) await writeFile(join(folder, `${name}.log`), log);
}
