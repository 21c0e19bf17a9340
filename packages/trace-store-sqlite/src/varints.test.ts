import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NumberReader, NumberWriter } from './varints.ts';

test('numbers come back as they went, in as many bytes as they need', () => {
  const whole = fc.oneof(fc.nat(300), fc.nat(), fc.maxSafeNat());
  const signed = fc.oneof(fc.integer({ min: -300, max: 300 }), fc.integer({ min: -1e15, max: 1e15 }));
  fc.assert(
    fc.property(fc.array(fc.tuple(whole, signed, fc.double({ noNaN: true })), { maxLength: 300 }), (rows) => {
      const writer = new NumberWriter();
      for (const [one, two, three] of rows) {
        const part = new NumberWriter();
        part.whole(one);
        part.signed(two);
        part.double(three);
        writer.append(part);
      }
      const reader = new NumberReader(writer.bytes());
      const read: number[][] = [];
      while (!reader.isAtEnd) read.push([reader.whole(), reader.signed(), reader.double()]);
      expect(read).toEqual(rows);
    }),
  );
  const counts = new NumberWriter();
  for (const number of [0, 1, 3, 200, 150, 70_000]) counts.whole(number);
  const sums = [0, 0, 0, 5];
  new NumberReader(counts.bytes()).addCounts(sums, counts.length);
  expect([sums.length, sums[0], sums[3], sums[153]]).toEqual([154, 1, 205, 70_000]);
  const small = new NumberWriter();
  small.whole(127);
  small.signed(-64);
  expect(small.length).toBe(2);
});
