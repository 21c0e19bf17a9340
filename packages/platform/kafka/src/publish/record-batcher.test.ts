import { expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { recordBytes, type KafkaRecord } from '../kafka-record.ts';
import type { PublishResult } from './publish-result.ts';
import { RecordBatcher, type BatchLimits } from './record-batcher.ts';

const numbered = (count: number, bytes: number = 1): KafkaRecord[] =>
  Array.from({ length: count }, (_, at) => ({ key: String(at).padStart(4, '0'), value: Buffer.alloc(bytes) }));
const ONE = recordBytes({ key: '0000', value: Buffer.alloc(1) });
const WIDE: BatchLimits = { maxBatchRecords: 100, maxBatchBytes: 1e6, lingerMs: 0, maxRecordBytes: 1e6, maxPendingBytes: 1e6 };

function batcherOf(limits: Partial<BatchLimits>) {
  const sends: (readonly KafkaRecord[])[] = [];
  const release: ((results?: readonly PublishResult[]) => void)[] = [];
  const batcher = new RecordBatcher({ ...WIDE, ...limits }, (records) => {
    sends.push(records);
    const { promise, resolve } = Promise.withResolvers<readonly PublishResult[]>();
    release.push((results = records.map(() => 'published')) => resolve(results));
    return promise;
  });
  return { batcher, sends, release };
}

test.each([
  ['count', { maxBatchRecords: 4 }, [4, 4, 2]],
  ['bytes', { maxBatchBytes: 3 * ONE }, [3, 3, 3, 1]],
  ['bytes, where one record is larger than a batch', { maxBatchBytes: ONE / 2 }, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
] as const)('a send is bounded by %s, and one is in flight', async (_, limits, sizes) => {
  const { batcher, sends, release } = batcherOf(limits);
  const published = batcher.publish(numbered(10));
  for (const at of sizes.keys()) {
    await waitUntil(() => sends.length > at, { what: 'a send' });
    expect(sends).toHaveLength(at + 1);
    release[at]?.();
  }
  expect(await published).toEqual(Array(10).fill('published'));
  expect(sends.map(({ length }) => length)).toEqual(sizes);
  expect(sends.flat().map(({ key }) => key)).toEqual(numbered(10).map(({ key }) => key));
});

test('calls within the linger time share a send, and each gets its own results', async () => {
  const { batcher, sends, release } = batcherOf({ lingerMs: 60_000, maxBatchRecords: 5 });
  const first = batcher.publish(numbered(3));
  const second = batcher.publish(numbered(2));
  await waitUntil(() => sends.length > 0, { what: 'a send' });
  release[0]?.(['published', 'published', 'too_large', 'unavailable', 'published']);
  expect(await first).toEqual(['published', 'published', 'too_large']);
  expect(await second).toEqual(['unavailable', 'published']);
});

test('records beyond the bounds are rejected at once, and the others are published', async () => {
  const { batcher, release } = batcherOf({ maxRecordBytes: 500, maxPendingBytes: 2 * ONE });
  const large = { key: 'large', value: Buffer.alloc(500) };
  const published = batcher.publish([large, ...numbered(3)]);
  expect(batcher.pendingBytes).toBe(2 * ONE);
  await waitUntil(() => release.length > 0, { what: 'a send' });
  release[0]?.();
  expect(await published).toEqual(['too_large', 'published', 'published', 'queue_full']);
  expect(batcher.pendingBytes).toBe(0);
});

test('no records are published at once', async () => {
  expect(await batcherOf({}).batcher.publish([])).toEqual([]);
});
