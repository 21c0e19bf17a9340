import type { BenchRow } from '../bench.ts';
import { median } from '../median.ts';
import type { CopyMeasure, WriterMeasure, WriterRounds } from './writer-rounds.ts';

const CASE = 'pipeline';

/** Medians over rounds; `of_copy` is the median of the ratios within a round. */
export function writerRows({ writers, copies }: WriterRounds): BenchRow[] {
  if (copies.length === 0) return [];
  const copied = median(copies.map(({ tracesPerSec }) => tracesPerSec));
  const copyRow = { case: CASE, metric: 'copy.traces_per_s', value: copied, unit: 'traces/s' };
  const byCount = Map.groupBy(writers, (measure) => measure.writers);
  return [copyRow, ...[...byCount].flatMap(([count, of]) => rowsOf(count, of, copies, copied))];
}

function rowsOf(count: number, of: readonly WriterMeasure[], copies: readonly CopyMeasure[], copied: number): BenchRow[] {
  const row = (figure: string, unit: string, value: (measure: WriterMeasure) => number) => ({
    case: CASE,
    metric: `writers-${count}.${figure}`,
    value: median(of.map(value)),
    unit,
  });
  const ratios = of.map(({ round, tracesPerSec }) => {
    const copy = copies.find((one) => one.round === round);
    return tracesPerSec / (copy?.tracesPerSec ?? Number.NaN);
  });
  return [
    { ...row('traces_per_s', 'traces/s', ({ tracesPerSec }) => tracesPerSec), baseline: copied, ratio: median(ratios) },
    { ...row('of_copy', 'ratio', () => Number.NaN), value: median(ratios) },
    row('writer_cpu_us', 'us/trace', ({ cpuMicros }) => cpuMicros),
    row('table_bytes', 'bytes/trace', ({ bytes }) => bytes),
    row('wal_bytes', 'bytes/trace', ({ logBytes }) => logBytes),
  ];
}

export function publishRow(cpuMicros: readonly number[]): BenchRow {
  return { case: CASE, metric: 'gateway.publish_cpu_us', value: median(cpuMicros), unit: 'us/trace' };
}
