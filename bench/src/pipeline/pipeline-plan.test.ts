import { expect, test } from '@jest/globals';
import { readPipelinePlan } from './pipeline-plan.ts';
import { writerRows } from './pipeline-rows.ts';

test('options are read, and each has a default', () => {
  expect(readPipelinePlan([])).toEqual({
    traces: 80_000,
    rounds: 3,
    seconds: 4,
    writers: [1, 2, 4],
    load: 1_000,
    proxyRounds: 6,
  });
  expect(readPipelinePlan(['--writers', '1,3', '--rounds', '0'])).toMatchObject({ writers: [1, 3], rounds: 0 });
});

test.each([
  [['--writers', '1,x'], '--writers wants a whole number from 1, not "x".'],
  [['--traces', '10'], '--traces wants a whole number from 1000, not "10".'],
  [['--fast'], "Unknown option '--fast'"],
])('%j is a problem', (args, problem) => {
  expect(readPipelinePlan(args)).toEqual({ problem: expect.stringContaining(problem) });
});

test('the ratio to the COPY is the median of those within a round', () => {
  const measure = { writers: 1, cpuMicros: 80, bytes: 4_000, logBytes: 4_000 };
  const rows = writerRows({
    writers: [1_000, 4_000, 3_000].map((tracesPerSec, at) => ({ ...measure, round: at + 1, tracesPerSec })),
    copies: [2_000, 16_000, 5_000].map((tracesPerSec, at) => ({ round: at + 1, tracesPerSec })),
    broken: [],
  });
  const valueOf = (metric: string) => rows.find((row) => row.metric === metric)?.value;
  expect(valueOf('writers-1.traces_per_s')).toBe(3_000);
  expect(valueOf('copy.traces_per_s')).toBe(5_000);
  expect(valueOf('writers-1.of_copy')).toBe(0.5);
});
