import { expect, test } from '@jest/globals';

import { budgetRows } from './budgets.ts';

const row = (name: string, metric: string, value: number, ratio: number) => ({ case: name, metric, value, unit: '', ratio });

test('a kept budget has a ratio of 1 or more, for lower and upper bounds, and unmeasured ones have no row', () => {
  const rows = budgetRows([
    row('json-32', 'gateway.req_per_s', 8000, 0.84),
    row('json-256', 'gateway+all.p99_ms', 50, 5),
    row('json-32', 'bare.req_per_s', 9000, 1),
  ]);
  expect(rows.map(({ metric, value, ratio }) => [metric, value, ratio])).toEqual([
    ['json-32 gateway req_per_s.measured', 0.84, 0.84 / 0.7],
    ['json-32 gateway req_per_s.least', 0.7, undefined],
    ['json-256 gateway+all p99_ms.measured', 5, 2.6 / 5],
    ['json-256 gateway+all p99_ms.most', 2.6, undefined],
  ]);
});
