import { expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DETECTORS } from '@vitrine/privacy/findings';
import type { PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { openEmbeddedTraceStore } from './embedded-trace-store.ts';

const NO_PRIVACY: PrivacyRules = {
  mode: 'off',
  policyId: '',
  detectors: Object.fromEntries(DETECTORS.map((name) => [name, false])) as PrivacyRules['detectors'],
  deniedHeaders: [],
  deniedFields: [],
  format: '',
  salt: '',
  scopes: [],
};

test('quota totals are read while as many questions wait as may wait', async () => {
  await using folder = await temporaryFolder('store');
  await using store = await openEmbeddedTraceStore({
    path: join(folder.path, 'traces.db'),
    policy: { captureBodies: false, bodyMaxSize: 0, privacy: NO_PRIVACY },
    priceOverride: undefined,
  });
  const questions = Array.from({ length: 64 }, () => store.list({ limit: 1 }));
  const oneMore = store.list({ limit: 1 });
  const totals = store.quotaTotals('2026-01-01');
  expect(await oneMore.catch(codeOf)).toBe('trace_store_unavailable');
  expect(await totals).toEqual([]);
  expect(await Promise.all(questions)).toHaveLength(64);
});

test('the summary says what it can when the system says nothing of the file', async () => {
  await using folder = await temporaryFolder('store');
  const data = join(folder.path, 'data');
  await using store = await openEmbeddedTraceStore({
    path: join(data, 'traces.db'),
    policy: { captureBodies: false, bodyMaxSize: 0, privacy: NO_PRIVACY },
    priceOverride: undefined,
  });
  expect(await store.summary()).toEqual({ driver: 'sqlite', traceCount: 0, sizeBytes: expect.any(Number) });
  await rename(data, join(folder.path, 'moved'));
  await symlink('data', data);
  expect(await store.summary()).toEqual({ driver: 'sqlite', traceCount: 0, sizeBytes: undefined });
});
