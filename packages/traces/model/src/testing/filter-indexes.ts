import { expect, test } from '@jest/globals';
import { FILTER_COLUMNS, type TraceFilters } from '../trace-store.ts';

/** Each filter has an index in a store that ends with the id, or a reason to have none. `indexes`: the statements that create those of `traces`. `remedy`: where to append
 *  one. */
export function testFilterIndexes(
  indexes: readonly string[],
  reasons: { readonly [Name in keyof TraceFilters]?: string },
  remedy: string,
): void {
  test.each(Object.entries(FILTER_COLUMNS))('the filter %s has an index, or a reason to have none', (name, { column }) => {
    const isFirst = new RegExp(String.raw`^CREATE INDEX [^(]* \("?${column}"?, id\)`);
    const found = [indexes.some((index) => isFirst.test(index)) && 'an index', name in reasons && 'a reason'].filter(Boolean);
    const problem = `${column} has ${found.join(' and ') || 'no index'}: ${remedy}`;
    expect(found.length === 1 ? '' : problem).toBe('');
  });
}
