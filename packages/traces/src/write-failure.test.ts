import { describe, expect, test } from '@jest/globals';
import { writeWithFallback, type FailureClass } from './write-failure.ts';

/** A store that refuses batches holding a bad item, and counts its tries. */
function store(bad: ReadonlySet<number>, errorClass: FailureClass) {
  const kept: number[] = [];
  let tries = 0;
  const write = (batch: Iterable<number>) => {
    const items = [...batch];
    tries += 1;
    if (items.some((item) => bad.has(item))) throw new Error('refused');
    kept.push(...items);
  };
  return {
    run: (items: number[]) =>
      writeWithFallback(
        items.length,
        () => items,
        write,
        () => errorClass,
      ),
    kept,
    tries: () => tries,
  };
}

describe('writeWithFallback', () => {
  test('one bad row costs one row', () => {
    const { run, kept } = store(new Set([2]), 'constraint');
    expect(run([1, 2, 3])).toEqual({
      written: 2,
      failures: [{ operation: 'write_batch_fallback', error_class: 'constraint', count: 1 }],
      usage: [],
    });
    expect(kept).toEqual([1, 3]);
  });

  test('a batch of one is not tried twice', () => {
    const { run, tries } = store(new Set([1]), 'unknown');
    expect(run([1])).toEqual({
      written: 0,
      failures: [{ operation: 'write_trace', error_class: 'unknown', count: 1 }],
      usage: [],
    });
    expect(tries()).toBe(1);
  });

  test('a busy store is not asked once an item', () => {
    const { run, tries } = store(new Set([1, 2, 3]), 'contention');
    expect(run([1, 2, 3])).toEqual({
      written: 0,
      failures: [{ operation: 'write_batch_fallback', error_class: 'contention', count: 3 }],
      usage: [],
    });
    expect(tries()).toBe(2);
  });

  test('nothing to write is nothing to do', () => {
    expect(store(new Set(), 'unknown').run([])).toEqual({ written: 0, failures: [], usage: [] });
  });
});
