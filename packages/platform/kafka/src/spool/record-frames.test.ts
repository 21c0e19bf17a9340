import { expect, test } from '@jest/globals';
import { assert, dictionary, property, record, string, uint8Array, array, nat, option } from 'fast-check';
import type { KafkaRecord } from '../kafka-record.ts';
import { decodeFrames, encodeFrame } from './record-frames.ts';

const records = array(
  record(
    {
      key: string(),
      value: option(uint8Array().map((bytes) => Buffer.from(bytes))),
      headers: dictionary(string({ minLength: 1 }), string(), { maxKeys: 3, noNullPrototype: true }),
    },
    { requiredKeys: ['key', 'value'] },
  ),
  { maxLength: 8 },
);
const plain = (found: readonly KafkaRecord[]) =>
  found.map(({ key, value, headers = {} }) => ({
    key: String(key),
    value: value === null ? null : value.toString('hex'),
    headers: { ...(headers as object) },
  }));

test('written records are read back', () => {
  assert(
    property(records, (written) => {
      const { records: read, damaged } = decodeFrames(Buffer.concat(written.map(encodeFrame)));
      expect(damaged).toBe(0);
      expect(plain(read)).toEqual(plain(written));
    }),
  );
});

test('a segment cut at any byte has every record before the cut and one torn end', () => {
  assert(
    property(records, (written) => {
      const frames = written.map(encodeFrame);
      const bytes = Buffer.concat(frames);
      const ends = frames.map((_, at) => frames.slice(0, at + 1).reduce((sum, { length }) => sum + length, 0));
      const expected = plain(written);
      // Compared as text and at once, because there are thousands of cuts and `expect` is slow.
      const wrong = Array.from({ length: bytes.length + 1 }, (_, cut) => cut).filter((cut) => {
        const whole = ends.filter((end) => end <= cut).length;
        const { records: read, damaged } = decodeFrames(bytes.subarray(0, cut));
        const isTorn = cut !== (ends[whole - 1] ?? 0);
        return JSON.stringify(plain(read)) !== JSON.stringify(expected.slice(0, whole)) || damaged !== Number(isTorn);
      });
      expect(wrong).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

test('a changed byte loses at most the records from there, and is counted', () => {
  assert(
    property(records, nat(), nat({ max: 254 }), (written, position, change) => {
      const bytes = Buffer.concat(written.map(encodeFrame));
      if (bytes.length === 0) return;
      const at = position % bytes.length;
      bytes.writeUInt8((bytes.readUInt8(at) + change + 1) % 256, at);
      const { records: read, damaged } = decodeFrames(bytes);
      const known = plain(written).map((one) => JSON.stringify(one));
      expect(damaged).toBeGreaterThan(0);
      for (const one of plain(read)) expect(known).toContain(JSON.stringify(one));
    }),
  );
});

test('zeros at the end, which a power failure may leave, are a torn end', () => {
  const frame = encodeFrame({ key: 'k', value: Buffer.from('v') });
  const { records: read, damaged } = decodeFrames(Buffer.concat([frame, Buffer.alloc(64)]));
  expect([read.length, damaged]).toEqual([1, 1]);
});
