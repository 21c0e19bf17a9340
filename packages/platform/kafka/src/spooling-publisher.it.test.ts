import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { KafkaRecord } from './kafka-record.ts';
import type { PublishResult } from './publish/publish-result.ts';
import { DiskSpool } from './spool/disk-spool.ts';
import { SpoolingPublisher } from './spooling-publisher.ts';
import { collectLog } from './testing/collect-log.ts';

const numbered = (count: number, from: number = 0): KafkaRecord[] =>
  Array.from({ length: count }, (_, at) => ({ key: `k${from + at}`, value: Buffer.from(`value ${from + at}`) }));
const keys = (records: readonly KafkaRecord[]) => records.map(({ key }) => String(key));

/** A topic in memory with a broker that can be unavailable. */
function memoryTopic() {
  const topic = {
    isReady: true,
    kept: [] as string[],
    resultOf: (() => 'published') as (record: KafkaRecord) => PublishResult,
    publish: async (records: readonly KafkaRecord[]) => {
      const results = records.map((record): PublishResult => (topic.isReady ? topic.resultOf(record) : 'unavailable'));
      topic.kept.push(...keys(records.filter((_, at) => results[at] === 'published')));
      return results;
    },
  };
  return topic;
}

async function openOver(path: string, topic: ReturnType<typeof memoryTopic>, maxBytes: number = 1e6) {
  const log = collectLog();
  const publisher = new SpoolingPublisher(topic, await DiskSpool.open({ path, maxBytes, segmentBytes: 300 }), log);
  return { publisher, log, [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose]() };
}

test('records that cannot be published are spooled, and drained in order when the broker is back', async () => {
  await using folder = await temporaryFolder('spool');
  const topic = memoryTopic();
  await using opened = await openOver(folder.path, topic);
  const { publisher, log } = opened;
  expect(await publisher.write(numbered(2))).toEqual(['published', 'published']);
  topic.isReady = false;
  for (let from = 2; from < 40; from += 2) expect(await publisher.write(numbered(2, from))).toEqual(['spooled', 'spooled']);
  expect(publisher.figures).toMatchObject({ spooledRecords: 38, drainedRecords: 0 });
  topic.isReady = true;
  expect(await publisher.write(numbered(2, 40))).toEqual(['spooled', 'spooled']);
  await waitUntil(() => publisher.figures.spooledRecords === 0, { what: 'the spool to drain' });
  expect(topic.kept).toEqual(keys(numbered(42)));
  expect(publisher.figures).toMatchObject({ drainedRecords: 40, spooledBytes: 0 });
  expect(await publisher.write(numbered(1, 42))).toEqual(['published']);
  expect(log.lines.map(({ message }) => message)).toEqual(['spooling records', 'spool drained']);
});

test('a constant load is published directly again after the spool was drained', async () => {
  await using folder = await temporaryFolder('spool');
  const topic = memoryTopic();
  topic.isReady = false;
  await using opened = await openOver(folder.path, topic);
  const { publisher } = opened;
  let written = 0;
  const write = async () => {
    const [result] = await publisher.write(numbered(1, written));
    written += 1;
    return result === 'published' && publisher.figures.spooledRecords === 0;
  };
  for (let at = 0; at < 50; at += 1) await write();
  topic.isReady = true;
  const deadline = performance.now() + 10_000;
  // A loop without pauses between the writes, which waitUntil would add.
  while (!(await write())) expect(performance.now()).toBeLessThan(deadline);
  expect(topic.kept).toEqual(keys(numbered(written)));
});

test('only a full spool loses records, and each loss is reported', async () => {
  await using folder = await temporaryFolder('spool');
  const topic = memoryTopic();
  topic.isReady = false;
  await using opened = await openOver(folder.path, topic, 100);
  const results = await opened.publisher.write(numbered(6));
  expect(results).toEqual(['spooled', 'spooled', 'spooled', 'spool_full', 'spool_full', 'spool_full']);
  topic.isReady = true;
  await waitUntil(() => topic.kept.length === 3, { what: 'the spool to drain' });
});

test('remaining records are drained by the next process', async () => {
  await using folder = await temporaryFolder('spool');
  const topic = memoryTopic();
  topic.isReady = false;
  {
    await using opened = await openOver(folder.path, topic);
    await opened.publisher.write(numbered(10));
    expect(await opened.publisher.drain(20)).toBe(10);
    await opened.publisher[Symbol.asyncDispose]();
    expect(opened.log.messages('warn')).toEqual(['spooling records', 'records left in the spool']);
    expect(await opened.publisher.write(numbered(1))).toEqual(['spool_failed']);
  }
  topic.isReady = true;
  await using next = await openOver(folder.path, topic);
  expect(await next.publisher.drain(5_000)).toBe(0);
  expect(topic.kept).toEqual(keys(numbered(10)));
});

test('a record that is too large for the topic does not block the spool', async () => {
  await using folder = await temporaryFolder('spool');
  const topic = memoryTopic();
  topic.resultOf = ({ key }) => (key.toString() === 'k3' ? 'too_large' : 'published');
  await using opened = await openOver(folder.path, topic);
  expect(await opened.publisher.write(numbered(1, 3))).toEqual(['too_large']);
  topic.isReady = false;
  await opened.publisher.write(numbered(6));
  topic.isReady = true;
  await waitUntil(() => opened.publisher.figures.spooledRecords === 0, { what: 'the spool to drain' });
  expect(topic.kept).toEqual(keys(numbered(6)).filter((key) => key !== 'k3'));
  expect(opened.publisher.figures).toMatchObject({ drainedRecords: 5, drainedTooLarge: 1 });
});
