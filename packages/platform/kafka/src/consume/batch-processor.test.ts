import { expect, test } from '@jest/globals';
import { assert, asyncProperty, nat, uniqueArray } from 'fast-check';
import type { KafkaRecord } from '../kafka-record.ts';
import type { PublishResult } from '../publish/publish-result.ts';
import { processBatch } from './batch-processor.ts';
import type { ConsumedRecord, HandlerResult } from './consumed-record.ts';

const recordsOf = (count: number): ConsumedRecord[] =>
  Array.from({ length: count }, (_, offset) => {
    const value = Buffer.from(`value ${offset}`);
    return { topic: 't', partition: 3, offset: String(offset), key: null, value, headers: { own: 'header' }, timestamp: 0 };
  });

function toolsOf(
  handle: (offsets: readonly number[]) => HandlerResult,
  publish: (letter: KafkaRecord) => PublishResult = () => 'published',
) {
  const letters: KafkaRecord[] = [];
  const waits: number[] = [];
  const calls: number[] = [];
  return {
    letters,
    waits,
    calls,
    handle: async (records: readonly ConsumedRecord[]) => (
      calls.push(records.length),
      handle(records.map(({ offset }) => Number(offset)))
    ),
    deadLetters: { publish: async (records: readonly KafkaRecord[]) => (letters.push(...records), records.map(publish)) },
    onDeadLetter: () => {},
    wait: async (ms: number) => void waits.push(ms),
  };
}

test('exactly the records at which a handler throws become dead letters, and all others are processed', async () => {
  await assert(
    asyncProperty(nat({ max: 60 }), uniqueArray(nat({ max: 59 }), { maxLength: 6 }), async (count, poison) => {
      const processed: number[] = [];
      const tools = toolsOf((offsets) => {
        if (offsets.some((offset) => poison.includes(offset))) throw new TypeError('cannot be written');
        processed.push(...offsets);
        return { status: 'done' };
      });
      const bad = poison.filter((offset) => offset < count).toSorted((a, b) => a - b);
      expect(await processBatch(recordsOf(count), tools)).toBeUndefined();
      expect(processed).toEqual(
        recordsOf(count)
          .map(({ offset }) => Number(offset))
          .filter((offset) => !bad.includes(offset)),
      );
      expect(tools.letters.map(({ headers }) => Number(headers?.['dead-letter-offset']))).toEqual(bad);
      expect(tools.calls.length).toBeLessThanOrEqual(2 * count + 1 + 3 * bad.length);
    }),
  );
});

test('a record that fails twice is processed at the third attempt, after waiting longer each time', async () => {
  let attempts = 0;
  const tools = toolsOf(() => {
    attempts += 1;
    if (attempts < 3) throw new Error('busy');
    return { status: 'done' };
  });
  expect(await processBatch(recordsOf(1), tools)).toBeUndefined();
  expect([tools.letters, tools.waits]).toEqual([[], [50, 100]]);
});

test('a dead letter is the record with its headers and the reason', async () => {
  const tools = toolsOf(() => {
    throw Object.assign(new Error('x'.repeat(600)), { code: '22P02' });
  });
  await processBatch(recordsOf(1), tools);
  const headers = {
    own: 'header',
    'dead-letter-topic': 't',
    'dead-letter-partition': '3',
    'dead-letter-offset': '0',
    'dead-letter-error-class': '22P02',
    'dead-letter-reason': 'x'.repeat(500),
    'dead-letter-attempts': '3',
  };
  expect(tools.letters).toEqual([{ key: '3-0', value: Buffer.from('value 0'), headers }]);
});

test('an unavailable store ends the batch at once without dead letters', async () => {
  const tools = toolsOf((offsets) => {
    if (offsets.length > 2) throw new Error('halve it');
    return { status: 'unavailable', errorClass: 'connection', reason: 'no database' };
  });
  expect(await processBatch(recordsOf(8), tools)).toMatchObject({ reason: 'no database' });
  expect([tools.letters, tools.calls]).toEqual([[], [8, 4, 2]]);
});

test('a batch is not done when its dead letter cannot be published', async () => {
  const rejectAll = (): HandlerResult => ({
    status: 'done',
    rejected: recordsOf(2).map((record) => ({ record, errorClass: 'malformed', reason: 'no JSON' })),
  });
  const tools = toolsOf(rejectAll, () => 'unavailable');
  expect(await processBatch(recordsOf(2), tools)).toEqual({
    errorClass: 'unavailable',
    reason: 'dead letters were not published: unavailable',
  });
});

test('a dead letter that is too large loses its value, not its headers', async () => {
  const tools = toolsOf(
    () => {
      throw new Error('no');
    },
    ({ value }) => (value === null ? 'published' : 'too_large'),
  );
  expect(await processBatch(recordsOf(1), tools)).toBeUndefined();
  expect(tools.letters.map(({ value, headers }) => [value === null, headers?.['dead-letter-offset']])).toEqual([
    [false, '0'],
    [true, '0'],
  ]);
});
