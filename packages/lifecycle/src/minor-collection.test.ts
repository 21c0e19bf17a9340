import { expect, test } from '@jest/globals';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { exposeMinorCollection } from './minor-collection.ts';

test('collects the young generation', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const forced = constants.NODE_PERFORMANCE_GC_FLAGS_FORCED;
  const observer = new PerformanceObserver((list) => {
    const details = list.getEntries().map((entry) => (entry as typeof entry & { detail: { flags: number } }).detail);
    const own = details.find(({ flags }) => (flags & forced) !== 0);
    if (own !== undefined) resolve(own);
  });
  observer.observe({ entryTypes: ['gc'] });
  exposeMinorCollection()();
  expect(await promise).toMatchObject({ kind: constants.NODE_PERFORMANCE_GC_MINOR });
  observer.disconnect();
});
