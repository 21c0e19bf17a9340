import { describe, expect, test } from '@jest/globals';
import { writeErrorOf } from './write-error.ts';
import { writeWithFallback, type FailureClass } from './write-result.ts';

/** A store that refuses batches holding a bad item, and counts its tries. */
function store(bad: ReadonlySet<number>, errorClass: FailureClass) {
  const kept: number[] = [];
  let tries = 0;
  const write = (batch: Iterable<number>) => {
    const items = [...batch];
    tries += 1;
    if (items.some((item) => bad.has(item))) throw new Error(`refused ${items.join()}`);
    kept.push(...items);
  };
  return {
    run: (items: number[]) =>
      writeWithFallback(
        items.length,
        () => items,
        write,
        (error) => ({ error_class: errorClass, error: writeErrorOf(error) }),
      ),
    kept,
    tries: () => tries,
  };
}

const refused = (items: string) => expect.objectContaining({ name: 'Error', message: `refused ${items}`, code: '' });

describe('writeWithFallback', () => {
  test('one bad row costs one row', () => {
    const { run, kept } = store(new Set([2]), 'constraint');
    expect(run([1, 2, 3])).toEqual({
      written: 2,
      failures: [{ operation: 'write_batch_fallback', error_class: 'constraint', count: 1, error: refused('2') }],
      usage: [],
    });
    expect(kept).toEqual([1, 3]);
  });

  test('a batch of one is not tried twice', () => {
    const { run, tries } = store(new Set([1]), 'unknown');
    expect(run([1])).toEqual({
      written: 0,
      failures: [{ operation: 'write_trace', error_class: 'unknown', count: 1, error: refused('1') }],
      usage: [],
    });
    expect(tries()).toBe(1);
  });

  test('a busy store is not asked once an item', () => {
    const { run, tries } = store(new Set([1, 2, 3]), 'contention');
    expect(run([1, 2, 3])).toEqual({
      written: 0,
      failures: [{ operation: 'write_batch_fallback', error_class: 'contention', count: 3, error: refused('1') }],
      usage: [],
    });
    expect(tries()).toBe(2);
  });

  test('of many errors of a class the first is told', () => {
    const { run } = store(new Set([2, 4]), 'unknown');
    expect(run([1, 2, 3, 4]).failures).toEqual([
      { operation: 'write_batch_fallback', error_class: 'unknown', count: 2, error: refused('2') },
    ]);
  });

  test('nothing to write is nothing to do', () => {
    expect(store(new Set(), 'unknown').run([])).toEqual({ written: 0, failures: [], usage: [] });
  });
});

describe('writeErrorOf', () => {
  test('is cut, and says where a bug of ours is', () => {
    const error = writeErrorOf(Object.assign(new TypeError('x'.repeat(10_000)), { code: 'ERR_X' }));
    expect(error).toMatchObject({ name: 'TypeError', message: 'x'.repeat(300), code: 'ERR_X' });
    expect(error.stack?.length).toBe(2_000);
    expect(structuredClone(error)).toEqual(error);
  });

  test.each([
    ['a text', 'string', 'a text'],
    [{ message: 'm', code: 'c' }, 'object', 'm'],
    [undefined, 'undefined', 'undefined'],
  ])('of %j, which is no error', (thrown, name, message) => {
    expect(writeErrorOf(thrown)).toMatchObject({ name, message });
  });
});
