import { expect, test } from '@jest/globals';

import { readProxyPlan } from './proxy-plan.ts';

test('without options everything is measured and the soak is off', () => {
  expect(readProxyPlan([], true)).toMatchObject({
    rounds: 12,
    starts: 1,
    seconds: 1,
    warmUp: 150_000,
    soak: 0,
    targets: ['direct', 'bare', 'nginx', 'gateway', 'gateway+limits', 'gateway+all', 'gateway+bodies'],
  });
});

test.each([
  [['--no-bodies'], { targets: ['direct', 'bare', 'gateway', 'gateway+limits', 'gateway+all'] }],
  [['--bodies'], { targets: ['direct', 'bare', 'gateway+bodies'] }],
  [['--targets', 'bare,direct', '--rounds', '1'], { targets: ['direct', 'bare'], rounds: 1 }],
  [['--cases', 'sse-16'], { cases: [{ name: 'sse-16', kind: 'stream', connections: 16 }] }],
  [['--warm-up', '0'], { warmUp: 0 }],
  [['--against', 'before'], { starts: 6 }],
  [['--against', 'before', '--starts', '2'], { starts: 2 }],
  [['--cases', 'none', '--soak', '2000000'], { cases: [], soak: 2_000_000 }],
])('%j', (args, plan) => {
  expect(readProxyPlan(args, false)).toMatchObject(plan);
});

test.each([
  [['--rounds', '0'], '--rounds wants a whole number from 1, not "0".'],
  [['--seconds', 'x'], '--seconds wants a whole number from 1, not "x".'],
  [['--cases', 'json-2'], '--cases: unknown "json-2"; known: json-1, json-32, json-256, sse-16, cut-256.'],
  [['--targets', 'gateway', '--bodies'], 'No target is left to measure.'],
  [['--targets', 'nginx'], '--targets: nginx is not installed.'],
])('%j is refused with the reason', (args, problem) => {
  expect(readProxyPlan(args, false)).toEqual({ problem });
});

test.each([[['--loud']], [['json-32']], [['--rounds']]])('%j is refused', (args) => {
  expect(readProxyPlan(args)).toHaveProperty('problem');
});
