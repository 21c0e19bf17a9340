import { expect, test } from '@jest/globals';
import { budgetRows } from './budgets.ts';
import { brokenBy, type Measure } from './measure.ts';
import { proxyRows, startRows } from './proxy-rows.ts';

const load = {
  sent: 100,
  completed: 100,
  cutByClient: 0,
  cutByUpstream: 0,
  errors: 0,
  errorSamples: [],
  reqPerSec: 100,
  p50Ms: 1,
  p99Ms: 2,
  clientCpuMicros: 10,
};

function measured(target: Measure['target'], round: number, reqPerSec: number, more: Partial<Measure> = {}): Measure {
  return { case: 'json-32', target, round, load: { ...load, reqPerSec }, mock: 100, rssMib: [], ...more };
}

test('a figure is the median over rounds, its ratio the median of the ratios within a round, and warm-ups do not count', () => {
  const rows = proxyRows(
    [
      measured('bare', 0, 1),
      measured('gateway', 0, 9),
      measured('bare', 1, 100),
      measured('gateway', 1, 80),
      measured('gateway', 2, 160),
      measured('bare', 2, 200),
      measured('bare', 3, 300),
      measured('gateway', 3, 90),
    ],
    'speed',
  );
  expect(rows).toContainEqual({
    case: 'json-32',
    metric: 'gateway.req_per_s',
    value: 90,
    unit: 'req/s',
    baseline: 200,
    ratio: 0.8,
  });
  expect(rows).toContainEqual({ case: 'json-32', metric: 'bare.req_per_s', value: 200, unit: 'req/s' });
});

test('keys and limits are compared with the gateway without them', () => {
  const rows = proxyRows([measured('gateway', 1, 80), measured('gateway+limits', 1, 76)], 'speed');
  expect(rows).toContainEqual(
    expect.objectContaining({ metric: 'gateway+limits.req_per_s_of_gateway', baseline: 80, ratio: 0.95 }),
  );
});

test('a gateway is compared with that of another checkout', () => {
  const rows = proxyRows([measured('gateway', 1, 99), measured('gateway@before', 1, 100)], 'speed');
  expect(rows).toContainEqual(expect.objectContaining({ metric: 'gateway.req_per_s_of_before', baseline: 100, ratio: 0.99 }));
});

test('CPU and memory are omitted without /proc', () => {
  const metrics = proxyRows([measured('bare', 1, 100)], 'speed').map((row) => row.metric);
  expect(metrics).toEqual(['bare.req_per_s', 'bare.p50_ms', 'bare.p99_ms']);
});

test('stored rows are summed over rounds and compared with the exchanges of the mock', () => {
  const rows = proxyRows([measured('gateway', 1, 80, { rows: 100 }), measured('gateway', 2, 80, { rows: 98 })], 'counts');
  expect(rows).toContainEqual({ case: 'json-32', metric: 'gateway.kept', value: 198, unit: 'rows', baseline: 200, ratio: 0.99 });
});

test.each([
  ['a lost row', { rows: 99 }, '99 rows stored, the mock saw 100 exchanges'],
  ['a row too many', { rows: 101 }, '101 rows stored, the mock saw 100 exchanges'],
  ['a request that the mock did not see', { mock: 99, rows: 99 }, 'the client sent 100 requests, the mock saw 99'],
  ['an error', { load: { ...load, errors: 1, errorSamples: ['1 x status 502'] } }, '1 errors (1 x status 502)'],
])('%s breaks the bench', (_, more, line) => {
  expect(brokenBy(measured('gateway', 2, 80, more))).toEqual([`json-32, gateway, round 2: ${line}`]);
});

test('a load without loss breaks nothing', () => {
  expect(brokenBy(measured('gateway', 2, 80, { rows: 100 }))).toEqual([]);
});

test('the time to the first response is the median over the starts of each process', () => {
  const rows = startRows([
    { name: 'gateway', firstResponseMs: 400 },
    { name: 'nginx' },
    { name: 'gateway', firstResponseMs: 500 },
    { name: 'gateway', firstResponseMs: 410 },
  ]);
  expect(rows).toEqual([{ case: 'start', metric: 'gateway.first_response_ms', value: 410, unit: 'ms' }]);
});

const budgetRow = (name: string, metric: string, value: number, ratio: number) => ({
  case: name,
  metric,
  value,
  unit: '',
  ratio,
});

test('a kept budget has a ratio of 1 or more, for lower and upper bounds, and unmeasured ones have no row', () => {
  const rows = budgetRows([
    budgetRow('json-32', 'gateway.req_per_s', 8000, 0.84),
    budgetRow('json-256', 'gateway+all.p99_ms', 50, 5),
    budgetRow('json-32', 'bare.req_per_s', 9000, 1),
  ]);
  expect(rows.map(({ metric, value, ratio }) => [metric, value, ratio])).toEqual([
    ['json-32 gateway req_per_s.measured', 0.84, 0.84 / 0.7],
    ['json-32 gateway req_per_s.least', 0.7, undefined],
    ['json-256 gateway+all p99_ms.measured', 5, 2.6 / 5],
    ['json-256 gateway+all p99_ms.most', 2.6, undefined],
  ]);
});
