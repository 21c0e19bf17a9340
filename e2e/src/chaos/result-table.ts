import { textTable } from '@vitrine/command-line/print-result';
import type { ScenarioResult } from './run-scenario.ts';

type Column = readonly [head: string, cell: (result: ScenarioResult) => string];

const whole = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 0 });

const COLUMNS: readonly Column[] = [
  ['SCENARIO', ({ scenario }) => scenario],
  ['SENT', ({ sent }) => whole(sent)],
  ['ANSWERED', ({ answered }) => whole(answered)],
  ['NOT 200', ({ refused }) => whole(refused)],
  ['PER S', ({ answeredPerSecond }) => whole(answeredPerSecond)],
  ['IN POSTGRES', ({ inPostgres }) => whole(inPostgres)],
  ['MISSING', ({ missing }) => whole(missing)],
  ['DROPS COUNTED', ({ countedDrops }) => whole(countedDrops)],
  ['LOST WITH GATEWAY', ({ lostWithGateway }) => whole(lostWithGateway)],
  ['TWICE', ({ twice }) => whole(twice)],
  ['ROLL-UPS OFF', ({ rollUpDifferences }) => whole(rollUpDifferences)],
  ['QUOTAS OFF', ({ quotaDifferences }) => whole(quotaDifferences)],
  ['DEAD LETTERS', ({ deadLetters }) => whole(deadLetters)],
  ['MOST LAG', ({ maxLag }) => whole(maxLag)],
  ['DRAINED IN', ({ drainSeconds }) => `${drainSeconds.toFixed(1)} s`],
  ['HELD', ({ broken }) => (broken.length === 0 ? 'yes' : 'NO')],
];

/** A line for each scenario, and the violations below it. */
export function resultTable(results: readonly ScenarioResult[]): string {
  const rows = results.map((result) => COLUMNS.map(([, cell]) => cell(result)));
  const broken = results.flatMap(({ scenario, broken }) => broken.map((line) => `BROKEN: ${scenario}: ${line}\n`));
  return (
    textTable(
      COLUMNS.map(([head]) => head),
      rows,
    ) + broken.join('')
  );
}
