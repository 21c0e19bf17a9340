import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createLogger } from '@vitrine/telemetry/logger';
import { FAILURE_CLASSES, type FailureClass } from '@vitrine/traces/record-writer';
import type { WriteFailure } from '@vitrine/traces/write-result';
import { readFileSync } from 'node:fs';
import { DropReport } from './drop-report.ts';

const FAILURE_MODES = readFileSync(new URL('../../../../../docs/failure-modes.md', import.meta.url), 'utf8');

let lines: Record<string, unknown>[];
let report: DropReport;
beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  report = new DropReport(createLogger('t', 'info', destination), 'sqlite');
});
afterEach(() => {
  report[Symbol.dispose]();
  jest.useRealTimers();
});

const FULL = { name: 'SqliteError', message: 'database or disk is full', code: 'SQLITE_FULL', errcode: 13 };
const failure = (count: number, more: Partial<WriteFailure> = {}) => ({
  where: 'write' as const,
  operation: 'write_batch_fallback' as const,
  error_class: 'unknown' as const,
  count,
  error: FULL,
  ...more,
});
const counts = () => lines.map(({ count }) => count);
const total = () => lines.reduce((sum, { count }) => sum + Number(count), 0);

test('a drop is logged at once, with its class, the error of SQLite behind it and the next step', () => {
  report.dropped(failure(3));
  expect(lines).toEqual([
    expect.objectContaining({
      level: 'error',
      msg: 'traces dropped',
      where: 'write',
      operation: 'write_batch_fallback',
      error_class: 'unknown',
      count: 3,
      err: expect.objectContaining({ message: 'database or disk is full', code: 'SQLITE_FULL', errcode: 13 }),
      next_step: expect.stringMatching(/^free space on the disk of storage\.path.*docs\/failure-modes\.md#unknown/),
    }),
  ]);
  expect(lines[0]).not.toHaveProperty('error');
});

test('the last count is logged ten seconds after the line before it, whether or not anything more is dropped', () => {
  for (let i = 0; i < 5; i += 1) report.dropped({ where: 'enqueue', count: 1 });
  expect(counts()).toEqual([1]);
  jest.advanceTimersByTime(9_999);
  expect(counts()).toEqual([1]);
  jest.advanceTimersByTime(1);
  expect(counts()).toEqual([1, 4]);
  jest.advanceTimersByTime(60_000);
  expect(counts()).toEqual([1, 4]);
  report.dropped({ where: 'enqueue', count: 1 });
  expect(counts()).toEqual([1, 4, 1]);
});

test('and at the shutdown', () => {
  report.dropped(failure(1));
  report.dropped(failure(2, { error: { ...FULL, message: 'later' } }));
  report.dropped({ where: 'enqueue', count: 1 });
  report.dropped({ where: 'enqueue', count: 6 });
  report[Symbol.dispose]();
  expect(lines.map(({ where, count }) => [where, count])).toEqual([
    ['write', 1],
    ['enqueue', 1],
    ['write', 2],
    ['enqueue', 6],
  ]);
  expect(lines[2]).toMatchObject({ err: { message: 'later' } });
});

test('an outage of a minute has one line per ten seconds, and every dropped trace is counted in one', () => {
  for (let at = 0; at < 60_000; at += 100) {
    report.dropped(failure(7));
    jest.advanceTimersByTime(100);
  }
  report[Symbol.dispose]();
  expect(lines.length).toBeLessThanOrEqual(8);
  expect(total()).toBe(7 * 600);
});

test('drops of one class do not hide those of another, nor drops of the queue those of the store', () => {
  for (const error_class of FAILURE_CLASSES) report.dropped(failure(1, { error_class }));
  report.dropped({ where: 'enqueue', count: 1 });
  expect(lines).toHaveLength(6);
});

test('an internal error has its stack', () => {
  const error = { name: 'TypeError', message: 'no function', code: '', stack: 'TypeError: no function\n    at derive.ts:1:1' };
  report.dropped(failure(1, { error }));
  expect(lines[0]).toMatchObject({ err: { message: 'no function', stack: expect.stringContaining('at derive.ts:1:1') } });
});

describe('every next step links to its documentation', () => {
  const headings = [...FAILURE_MODES.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text.toLowerCase().replaceAll('`', '').replaceAll(/\s/g, '-'),
  );
  const codes = ['', 'SQLITE_FULL', 'SQLITE_READONLY', 'SQLITE_CORRUPT', 'SQLITE_NOTADB', 'spool_full', 'worker_failed'];
  const drops = FAILURE_CLASSES.flatMap((error_class: FailureClass) =>
    codes.map((code) => failure(1, { error_class, error: { ...FULL, code } })),
  );
  test.each([{ where: 'enqueue' as const, count: 1 }, ...drops])('%j', (drop) => {
    report.dropped(drop);
    const [, anchor] = /\(docs\/failure-modes\.md#([a-z-]+)\)$/.exec(String(lines[0]?.['next_step'])) ?? [];
    expect(headings).toContain(anchor);
  });
});
