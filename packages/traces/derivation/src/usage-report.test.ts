import { expect, test } from '@jest/globals';
import { withUsage, type UsageReport } from './usage-report.ts';

/** The report of a stream in which this usage comes 5,000 times. */
function reportOf(usage: unknown): UsageReport | undefined {
  return Array.from({ length: 5_000 }, () => usage).reduce<UsageReport | undefined>(withUsage, undefined);
}

test.each([{ prompt_tokens: 1 }, { prompt_tokens: 'x' }, { prompt_tokens: -1, completion_tokens: [] }, null])(
  'a stream that repeats %j cannot make a report grow',
  (usage) => {
    expect(JSON.stringify(reportOf(usage) ?? {}).length).toBeLessThan(200);
  },
);

test.each([5, 'x', [], true])('a stream that repeats %j cannot make a report grow', (usage) => {
  expect(JSON.stringify(reportOf(usage)).length).toBeLessThan(200);
});
