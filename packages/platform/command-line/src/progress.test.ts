import { expect, test } from '@jest/globals';
import { createProgress } from './progress.ts';

test('progress is printed every two seconds, with the rate and the time left', () => {
  let now = 0;
  const lines: string[] = [];
  const stderr = { write: (line: string) => void lines.push(line) };
  const progress = createProgress({ total: 100_000, items: 'traces read', now: () => now, stderr });
  for (const [at, done] of [
    [500, 5_000],
    [2_000, 20_000],
    [3_900, 39_000],
    [4_000, 40_000],
  ] as const) {
    now = at;
    progress(done);
  }
  expect(lines).toEqual([
    '20000 of 100000 traces read (20 %), 10000 per second, about 8 s left\n',
    '40000 of 100000 traces read (40 %), 10000 per second, about 6 s left\n',
  ]);
});
