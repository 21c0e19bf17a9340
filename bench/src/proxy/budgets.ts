import type { BenchRow } from '../bench.ts';

/** A figure that is fast or small enough. `figure` of `target` in `case`; its ratio to the bare forwarder where `of` is `ratio`. Spec: G20.1 to G20.9. */
interface Budget {
  readonly case: string;
  readonly target: string;
  readonly figure: string;
  readonly of: 'ratio' | 'value';
  readonly least?: number;
  readonly most?: number;
}

/** The least ratios of requests a second at 32 and 256 connections and of streams at 16. Spec: G20.1 to G20.4. */
const LEAST: Readonly<Record<string, readonly [json32: number, json256: number, sse16: number]>> = {
  gateway: [0.7, 0.78, 0.85],
  'gateway+limits': [0.66, 0.74, 0.85],
  'gateway+all': [0.42, 0.47, 0.78],
  'gateway+bodies': [0.55, 0.62, 0.7],
};

const BUDGETS: readonly Budget[] = [
  ...Object.entries(LEAST).flatMap(([target, least]) =>
    ['json-32', 'json-256', 'sse-16'].map(
      (name, at) => ({ case: name, target, figure: 'req_per_s', of: 'ratio', least: least[at] ?? 1 }) as const,
    ),
  ),
  { case: 'json-1', target: 'gateway', figure: 'p50_over_bare_ms', of: 'value', most: 0.05 },
  { case: 'json-1', target: 'gateway+all', figure: 'p50_over_bare_ms', of: 'value', most: 0.15 },
  { case: 'json-256', target: 'gateway', figure: 'p99_ms', of: 'ratio', most: 1.6 },
  { case: 'json-256', target: 'gateway+all', figure: 'p99_ms', of: 'ratio', most: 2.6 },
  { case: 'json-256', target: 'gateway+all', figure: 'rss_over_bare', of: 'value', most: 130 },
  { case: 'start', target: 'gateway', figure: 'first_response_ms', of: 'value', most: 500 },
  { case: 'start', target: 'gateway+all', figure: 'first_response_ms', of: 'value', most: 700 },
];

/** The measured figures compared with each budget. The ratio is 1 or more if the budget is kept. Budgets without a measured figure are omitted. */
export function budgetRows(rows: readonly BenchRow[]): BenchRow[] {
  return BUDGETS.flatMap(({ case: name, target, figure, of, least, most }) => {
    const measured = rows.find((row) => row.case === name && row.metric === `${target}.${figure}`)?.[of];
    const budget = least ?? most;
    if (measured === undefined || budget === undefined) return [];
    const row = { case: 'budgets', metric: `${name} ${target} ${figure}`, unit: '' };
    return [
      {
        ...row,
        metric: `${row.metric}.measured`,
        value: measured,
        baseline: budget,
        ratio: least === undefined ? budget / measured : measured / budget,
      },
      { ...row, metric: `${row.metric}.${least === undefined ? 'most' : 'least'}`, value: budget },
    ];
  });
}
