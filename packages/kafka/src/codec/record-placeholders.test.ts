import { expect, test } from '@jest/globals';
import type { KafkaRecord } from '../kafka-record.ts';
import { RecordEncoder } from './record-encoder.ts';
import { duringSend, partitionBySend, placedRecords, placeholdersOf } from './record-placeholders.ts';

const partitions = [4, 7, 9].map((partitionId) => ({
  partitionErrorCode: 0,
  partitionId,
  leader: 0,
  replicas: [],
  isr: [],
}));
const numbered = (count: number): KafkaRecord[] =>
  Array.from({ length: count }, (_, at) => ({ key: `${'k'.repeat(at)}${at}`, value: Buffer.from(`value ${at}`) }));

/** What kafkajs encodes of messages: its format is Kafka's, as ours. */
function encodedBy(
  send: { readonly number: number; readonly records: readonly KafkaRecord[] },
  chosen: readonly number[],
): Buffer {
  const messages = placeholdersOf(send);
  const records = chosen.map((at) => ({ key: messages[at]?.key ?? '', value: messages[at]?.value as Buffer }));
  return Buffer.from(new RecordEncoder().encode(records));
}

test('placeholders of any part of a send stand for its records, in their order', async () => {
  const send = { number: 2 ** 32 - 1, records: numbered(200) };
  const chosen = [3, 0, 199, 64];
  const placed = await duringSend(send, async () => placedRecords(encodedBy(send, chosen)));
  expect(placed).toEqual(chosen.map((at) => send.records[at]));
});

test('placeholders never reach a topic: those of another send, and without a send, are refused', async () => {
  const batch = encodedBy({ number: 1, records: numbered(2) }, [0, 1]);
  await expect(duringSend({ number: 2, records: numbered(2) }, async () => placedRecords(batch))).rejects.toThrow('its send');
  await expect(duringSend({ number: 1, records: numbered(1) }, async () => placedRecords(batch))).rejects.toThrow('its send');
  expect(() => placedRecords(batch)).toThrow('within a send');
});

test('a send has one partition, also when it is tried again', async () => {
  const partition = () => partitionBySend()({ topic: 't', partitionMetadata: partitions, message: { value: null } });
  const partitionsOf = (number: number) => duringSend({ number, records: [] }, async () => [partition(), partition()]);
  expect(await Promise.all([3, 4, 5, 6].map(partitionsOf))).toEqual([
    [4, 4],
    [7, 7],
    [9, 9],
    [4, 4],
  ]);
});
