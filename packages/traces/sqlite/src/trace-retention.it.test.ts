import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { plainTrace } from '@vitrine/traces/testing/plain-trace';
import { join } from 'node:path';
import { SqliteTraceReader } from './sqlite-trace-reader.ts';
import { SqliteTraceWriter } from './sqlite-trace-writer.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 5, 15, 12);
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder('retention');
  path = join(folder.path, 'traces.db');
});
afterEach(async () => folder[Symbol.asyncDispose]());

/** Writes a trace for each age in days in a process with this clock, and runs retention. */
function runAt(
  nowMs: number,
  { ages = [], passes = 1 }: { readonly ages?: readonly number[]; readonly passes?: number },
): number[] {
  using writer = new SqliteTraceWriter(path);
  const records = ages.map((days) => plainTrace(nowMs - days * DAY_MS));
  if (records.length > 0) writer.write(records);
  for (let pass = 0; pass < passes; pass += 1) {
    const { at } = writer.advanceRetention(nowMs);
    while (writer.removeOlderThan(at - 30 * DAY_MS, at - 400 * DAY_MS).length > 0);
  }
  using reader = new SqliteTraceReader(path);
  return reader.list({ limit: 99 }).items.map(({ timestamp }) => Math.round((NOW - Date.parse(timestamp)) / DAY_MS));
}

test('the daily run removes older traces', () => {
  expect(runAt(NOW, { ages: [0, 29, 31, 40] })).toEqual([0, 29]);
});

test('a machine whose clock jumps 40 days ahead loses two days of traces, even with concurrent writes', () => {
  runAt(NOW, { ages: [0, 10, 27, 29] });
  expect(runAt(NOW + 40 * DAY_MS, { ages: [0], passes: 5 })).toEqual([-40, 0, 10, 27]);
  // A restarted process removes no more within the hour.
  expect(runAt(NOW + 40 * DAY_MS + 60_000, {})).toEqual([-40, 0, 10, 27]);
  expect(runAt(NOW + 60_000, {})).toEqual([-40, 0, 10, 27]);
});

test('a file without a stored run starts at its newest trace', () => {
  using writer = new SqliteTraceWriter(path);
  const records = [0, 10, 27, 29].map((days) => plainTrace(NOW - days * DAY_MS));
  writer.write(records);
  expect(runAt(NOW + 40 * DAY_MS, {})).toEqual([0, 10, 27]);
});

test('a machine that was off for 40 days catches up two days an hour', () => {
  runAt(NOW, { ages: [0, 10, 29] });
  const later = NOW + 40 * DAY_MS;
  const kept = Array.from({ length: 21 }, (_, hour) => runAt(later + hour * 3_600_000, {}).length);
  expect([kept[0], kept[9], kept[20]]).toEqual([2, 2, 0]);
  expect(kept.toSorted((left, right) => right - left)).toEqual(kept);
});
