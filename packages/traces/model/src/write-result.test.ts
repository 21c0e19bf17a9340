import { describe, expect, test } from '@jest/globals';
import { writeErrorOf } from './write-error.ts';
import { writeWithFallback, type FailureClass, type RecordResult } from './record-writer.ts';
import { writeResultOf } from './write-result.ts';

/** A store that refuses batches with a bad item, and counts its tries. */
function store(bad: ReadonlySet<number>, errorClass: FailureClass) {
  const kept: number[] = [];
  let tries = 0;
  const write = (items: readonly number[]) => {
    tries += 1;
    if (items.some((item) => bad.has(item))) throw new Error(`refused ${items.join()}`);
    kept.push(...items);
    return items.map(() => 'written' as const);
  };
  return {
    run: (items: readonly number[]) =>
      writeResultOf(
        writeWithFallback(items, write, (error) => ({
          error_class: errorClass,
          error: writeErrorOf(error),
        })),
        items.length,
      ),
    kept,
    tries: () => tries,
  };
}

const refused = (items: string) => expect.objectContaining({ name: 'Error', message: `refused ${items}`, code: '' });

describe('writeWithFallback', () => {
  test('a bad row affects no other', () => {
    const { run, kept } = store(new Set([2]), 'constraint');
    expect(run([1, 2, 3])).toEqual({
      written: 2,
      failures: [{ operation: 'write_batch_fallback', error_class: 'constraint', count: 1, error: refused('2') }],
    });
    expect(kept).toEqual([1, 3]);
  });

  test('a batch of one is not tried twice', () => {
    const { run, tries } = store(new Set([1]), 'unknown');
    expect(run([1])).toEqual({
      written: 0,
      failures: [{ operation: 'write_trace', error_class: 'unknown', count: 1, error: refused('1') }],
    });
    expect(tries()).toBe(1);
  });

  test('a busy store is not called once per item', () => {
    const { run, tries } = store(new Set([1, 2, 3]), 'contention');
    expect(run([1, 2, 3])).toEqual({
      written: 0,
      failures: [{ operation: 'write_batch_fallback', error_class: 'contention', count: 3, error: refused('1') }],
    });
    expect(tries()).toBe(2);
  });

  test('of many errors of a class the first is reported', () => {
    const { run } = store(new Set([2, 4]), 'unknown');
    expect(run([1, 2, 3, 4]).failures).toEqual([
      { operation: 'write_batch_fallback', error_class: 'unknown', count: 2, error: refused('2') },
    ]);
  });

  test('nothing to write is nothing to do', () => {
    expect(store(new Set(), 'unknown').run([])).toEqual({ written: 0, failures: [] });
  });
});

describe('writeResultOf', () => {
  const failure = (error_class: FailureClass, message: string): RecordResult => ({
    operation: 'write_trace',
    error_class,
    error: { name: 'Error', message, code: '' },
  });

  test('adds up the results of records by class', () => {
    const results = [
      'written',
      failure('unknown', 'a'),
      'already_there',
      failure('timeout', 'b'),
      failure('unknown', 'c'),
    ] as const;
    expect(writeResultOf(results, 5)).toEqual({
      written: 2,
      failures: [
        { ...(failure('unknown', 'a') as object), count: 2 },
        { ...(failure('timeout', 'b') as object), count: 1 },
      ],
    });
  });

  test('missing results of a writer count as lost, and excess results do not count', () => {
    expect(writeResultOf(['written'], 3)).toMatchObject({
      written: 1,
      failures: [{ operation: 'write_trace', error_class: 'unknown', count: 2 }],
    });
    expect(writeResultOf(['written', 'written'], 1)).toEqual({ written: 1, failures: [] });
  });
});

describe('writeErrorOf', () => {
  test('is cut, and has the stack of an internal bug', () => {
    const error = writeErrorOf(Object.assign(new TypeError('x'.repeat(10_000)), { code: 'ERR_X' }));
    expect(error).toMatchObject({ name: 'TypeError', message: 'x'.repeat(300), code: 'ERR_X' });
    expect(error.stack?.length).toBe(2_000);
    expect(structuredClone(error)).toEqual(error);
  });

  test.each([
    ['a text', 'string', 'a text'],
    [{ message: 'm', code: 'c' }, 'object', 'm'],
    [undefined, 'undefined', 'undefined'],
  ])('of %j, which is not an error', (thrown, name, message) => {
    expect(writeErrorOf(thrown)).toMatchObject({ name, message });
  });
});
