import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { exportErrorLog } from './export-error-log.ts';

let lines: string[];
let report: ReturnType<typeof exportErrorLog>;
beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  report = exportErrorLog((line) => lines.push(line));
});
afterEach(() => {
  report[Symbol.dispose]();
  jest.useRealTimers();
});

test('the first is logged at once, and what followed after a minute, also when it was the last', () => {
  for (let i = 1; i <= 4; i += 1) report.add('', `refused ${i}`);
  expect(lines).toEqual(['refused 1']);
  jest.advanceTimersByTime(60_000);
  expect(lines).toEqual(['refused 1', 'refused 4 (and 2 more in the last minute)']);
  jest.advanceTimersByTime(600_000);
  expect(lines).toHaveLength(2);
  report.add('', 'refused again');
  expect(lines).toHaveLength(3);
});

test('an outage is logged once a minute', () => {
  for (let second = 0; second < 600; second += 1) {
    report.add('', 'refused');
    jest.advanceTimersByTime(1_000);
  }
  expect(lines.length).toBeLessThanOrEqual(11);
});

test('what is left is logged at the end', () => {
  for (const message of ['first', 'last']) report.add('', message);
  report[Symbol.dispose]();
  expect(lines).toEqual(['first', 'last']);
  report[Symbol.dispose]();
  expect(lines).toHaveLength(2);
});
