import { expect, test } from '@jest/globals';
import { runHostile } from './hostile-bench.ts';

/** The long run with a million of each takes hours: npm run bench -- hostile --requests 1000000 --responses 1000000. */
const CASES = 4_000;

test.each([
  ['requests', { requests: CASES, responses: 0 }],
  ['responses', { requests: 0, responses: CASES }],
])(
  'hostile %s break no promise: no crash, no response that is not HTTP, nothing smuggled, a trace for every exchange',
  async (_name, counts) => {
    const { rows, broken } = await runHostile({ ...counts, seed: 1, first: 0 }, () => {});
    expect(broken).toEqual([]);
    expect(rows.find(({ metric }) => metric === 'sent.all')?.value).toBe(CASES);
  },
  120_000,
);
