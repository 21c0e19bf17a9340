import type { BenchRow } from '../bench.ts';
import { median } from '../median.ts';
import type { Measure } from './measure.ts';
import { proxyRows } from './proxy-rows.ts';

export const SOAK_CASE = { name: 'soak-32', kind: 'json', connections: 32 } as const;
/** Fewer samples of memory (one a second) are too few for quarters. */
export const LEAST_SAMPLES = 8;

/** The long run: speed and stored rows as in any case, the median memory of each quarter of its time, and the growth from the
 *  second to the last (in the first, caches and the heap still settle). */
export function soakRows(measure: Measure): BenchRow[] {
  const metric = (figure: string) => ({ case: SOAK_CASE.name, metric: `${measure.target}.${figure}` });
  const rows = proxyRows([measure], 'speed');
  const samples = measure.rssMib;
  if (samples.length < LEAST_SAMPLES) return rows;
  const quarter = (index: number) => median(samples.slice((samples.length * index) / 4, (samples.length * (index + 1)) / 4));
  const [second, last] = [quarter(1), quarter(3)];
  return [
    ...rows,
    ...[0, 1, 2].map((index) => ({ ...metric(`rss_q${index + 1}`), value: quarter(index), unit: 'MiB' })),
    { ...metric('rss_q4'), value: last, unit: 'MiB', baseline: second, ratio: last / second },
  ];
}
