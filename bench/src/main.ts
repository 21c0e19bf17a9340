import { analyticsBench } from './analytics/analytics-bench.ts';
import type { Bench, BenchRow } from './bench.ts';
import { hostileBench } from './hostile/hostile-bench.ts';
import { operatorBench } from './operator/operator-bench.ts';
import { pipelineBench } from './pipeline/pipeline-bench.ts';
import { proxyBench } from './proxy/proxy-bench.ts';
import { renderTable } from './render-table.ts';
import { scanBench } from './scan/scan-bench.ts';
import { storeApiBench } from './store-api/store-api-bench.ts';
import { telemetryBench } from './telemetry/telemetry-bench.ts';
import { availableParallelism, cpus, release, totalmem } from 'node:os';

const benches: readonly Bench[] = [
  proxyBench,
  analyticsBench,
  telemetryBench,
  hostileBench,
  pipelineBench,
  operatorBench,
  scanBench,
  storeApiBench,
];

const [name, ...rest] = process.argv.slice(2);
process.exitCode = await main(name, rest);

/** The exit status: 0 measured without a broken promise, 1 something was broken, 2 invalid arguments. */
async function main(name: string | undefined, rest: readonly string[]): Promise<number> {
  if (name === '--help' || name === '-h') return help(benches);
  if (name === undefined) return refuse('Name a bench.');
  const bench = benches.find((bench) => bench.name === name);
  if (bench === undefined) return refuse(`Unknown bench "${name}"; known: ${benches.map((bench) => bench.name).join(', ')}.`);
  if (rest.includes('--help') || rest.includes('-h')) return help([bench]);

  const json = rest.includes('--json');
  const prepared = bench.prepare(rest.filter((arg) => arg !== '--json'));
  if ('problem' in prepared) return refuse(prepared.problem, bench);

  try {
    const { rows, broken } = await prepared.run(json ? () => {} : (line) => console.error(line));
    console.log(
      json
        ? JSON.stringify({ bench: bench.name, machine: machine(), rows: rows.map(ordered) }, shortened, 2)
        : `\n${renderTable(rows)}`,
    );
    for (const line of broken) console.error(`BROKEN: ${line}`);
    return broken.length === 0 ? 0 : 1;
  } catch (error) {
    // Anything other than a plain Error is a bug of the bench, so its stack is shown.
    console.error(error instanceof Error && error.name === 'Error' ? `Stopped: ${error.message}` : error);
    return 1;
  }
}

/** The machine of a result. Numbers of two machines are not comparable, but ratios nearly are. */
function machine() {
  return {
    node: process.versions.node,
    platform: `${process.platform} ${release()}`,
    arch: process.arch,
    cpus: availableParallelism(),
    cpu_model: cpus()[0]?.model.trim() ?? 'unknown',
    memory_mib: Math.round(totalmem() / 2 ** 20),
  };
}

/** The keys in the order of the documentation. */
function ordered({ case: name, metric, value, unit, baseline, ratio }: BenchRow) {
  return { case: name, metric, value, unit, baseline, ratio };
}

/** Four decimals are more than any figure is worth; a ratio keeps all, so that one lost row in millions shows. */
function shortened(key: string, value: unknown): unknown {
  return typeof value === 'number' && key !== 'ratio' ? Number(value.toFixed(4)) : value;
}

function refuse(problem: string, bench?: Bench): number {
  console.error(`${problem}\nSee: npm run bench -- ${bench === undefined ? '' : `${bench.name} `}--help`);
  return 2;
}

function help(shown: readonly Bench[]): number {
  const lines = ['Usage: npm run bench -- <name> [options]'];
  for (const bench of shown) {
    lines.push('', `  ${bench.name.padEnd(16)}${bench.sentence}`, '');
    const options = [...bench.options, ['--json', 'print only {bench, machine, rows} as JSON'], ['--help', 'this text']] as const;
    for (const [flag, meaning] of options) lines.push(`    ${flag.padEnd(20)}${meaning}`);
    lines.push('', ...bench.examples.map((example) => `    npm run bench -- ${example}`));
  }
  console.log(lines.join('\n'));
  return 0;
}
