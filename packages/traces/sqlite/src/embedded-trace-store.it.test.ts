import { expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { openPlainStore } from './testing/open-plain-store.ts';

test('quota totals are read while the maximum number of queries waits', async () => {
  await using folder = await temporaryFolder('store');
  await using store = await openPlainStore(join(folder.path, 'traces.db'));
  const queries = Array.from({ length: 64 }, () => store.list({ limit: 1 }));
  const oneMore = store.list({ limit: 1 });
  const totals = store.quotaTotals('2026-01-01');
  expect(await oneMore.catch(codeOf)).toBe('trace_store_unavailable');
  // The thread for queries is still starting.
  expect(await Promise.race([totals, ...queries])).toEqual([]);
  expect(await Promise.all(queries)).toHaveLength(64);
});

test('the summary returns what it can when the file size cannot be read', async () => {
  await using folder = await temporaryFolder('store');
  const data = join(folder.path, 'data');
  await using store = await openPlainStore(join(data, 'traces.db'));
  expect(await store.summary()).toEqual({ driver: 'sqlite', traceCount: 0, sizeBytes: expect.any(Number) });
  await rename(data, join(folder.path, 'moved'));
  await symlink('data', data);
  expect(await store.summary()).toEqual({ driver: 'sqlite', traceCount: 0, sizeBytes: undefined });
});
