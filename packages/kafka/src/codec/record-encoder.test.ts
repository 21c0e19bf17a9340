import { expect, test } from '@jest/globals';
import { createRequire } from 'node:module';
import type { KafkaRecord } from '../kafka-record.ts';
import { RecordEncoder } from './record-encoder.ts';

interface EncodedByKafkajs {
  readonly buffer: Buffer;
}

/** kafkajs' own encoder of a record, which brokers and consumers of all versions are known to read. */
const encodeByKafkajs = createRequire(import.meta.url)('kafkajs/src/protocol/recordBatch/record/v0/index.js') as (
  record: object,
) => EncodedByKafkajs;

const RECORDS: readonly KafkaRecord[] = [
  { key: 'k', value: Buffer.from('v') },
  { key: Buffer.from([0, 255]), value: null },
  { key: 'ä'.repeat(40), value: Buffer.alloc(0) },
  { key: 'k', value: Buffer.alloc(63, 'a') },
  { key: 'k', value: Buffer.alloc(64, 'a') },
  { key: 'k', value: Buffer.alloc(8_192, 'a') },
  { key: 'k', value: Buffer.alloc(1_048_576, 'a') },
  ...[0, 1, 31, 32, 63, 64, 8_192].map((length) => ({ key: 'k', value: 'ä'.repeat(length) })),
  { key: 'k', value: Buffer.from('v'), headers: { 'dead-letter-reason': 'malformed_record', empty: '', ü: 'ö'.repeat(99) } },
];

test('records are encoded as kafkajs encodes them: keys, values of all lengths and none, headers', () => {
  const many = Array.from({ length: 130 }, (_, at) => RECORDS[at % RECORDS.length] as KafkaRecord);
  const expected = many.map((record, offsetDelta) => encodeByKafkajs({ ...record, offsetDelta }).buffer);
  const encoder = new RecordEncoder();
  expect(encoder.encode(many.slice(0, 2)).equals(Buffer.concat(expected.slice(0, 2)))).toBe(true);
  expect(encoder.encode(many).equals(Buffer.concat(expected))).toBe(true);
  expect(encoder.encode([])).toHaveLength(0);
});
