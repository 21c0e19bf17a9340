import { expect, test } from '@jest/globals';
import { createdAtOf } from '@vitrine/traces/trace-id';
import fc from 'fast-check';
import { newTraceId } from './import-traces.ts';
import { parseOldTime } from './old-time.ts';

test('ids contain their millisecond, keep the order of nanoseconds, and are deterministic', () => {
  const hex = (id: Uint8Array) => Buffer.from(id).toString('hex');
  const time = fc.record({ ms: fc.integer({ min: 0, max: 2 ** 48 - 1 }), nanoseconds: fc.nat(999_999) });
  fc.assert(
    fc.property(time, fc.nat(999_999), fc.string(), fc.string(), (at, later, one, other) => {
      const id = newTraceId(one, at);
      expect(createdAtOf(id)).toBe(at.ms);
      expect(hex(id)).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
      expect(hex(newTraceId(one, { ...at }))).toBe(hex(id));
      if (one !== other) expect(hex(newTraceId(other, at))).not.toBe(hex(id));
      // 4,096 steps in a million nanoseconds, so times 245 apart keep their order.
      if (later - at.nanoseconds > 245) expect(hex(newTraceId(other, { ms: at.ms, nanoseconds: later })) > hex(id)).toBe(true);
    }),
  );
});

const AT = Date.UTC(2026, 1, 12, 15, 4, 5);

test.each([
  ['2026-02-12 15:04:05.123456789 +0000 UTC', 123, 456_789],
  ['2026-02-12 15:04:05.12 +0000 UTC', 120, 0],
  ['2026-02-12 15:04:05 +0000 UTC', 0, 0],
  ['2026-02-12 15:04:05.123456789 +0000 UTC m=+12.345', 123, 456_789],
  ['2026-02-12 16:04:05.5 +0100 CET', 500, 0],
  ['2026-02-12 10:34:05 -0430 -0430', 0, 0],
  ['2026-02-12 15:04:05.123456+00:00', 123, 456_000],
  ['2026-02-12 16:04:05+01:00', 0, 0],
  ['2026-02-12T15:04:05.123456789Z', 123, 456_789],
  ['2026-02-12T15:04:05Z', 0, 0],
  ['2026-02-12 15:04:05', 0, 0],
  ['2026-02-12T15:04:05.001', 1, 0],
  [' 2026-02-12 15:04:05 ', 0, 0],
])('%j is read', (text, ms, nanoseconds) => {
  expect(parseOldTime(text)).toEqual({ ms: AT + ms, nanoseconds });
});

test.each([
  null,
  '',
  'now',
  '2026-02-12',
  '2026-13-12 15:04:05',
  '2026-02-12 25:04:05',
  '1770908645',
  '0001-01-01 00:00:00 +0000 UTC',
  '2026-02-12 15:04:05 +0000 UTC x y',
])('%j is not a valid time of a trace', (text) => {
  expect(parseOldTime(text)).toBeUndefined();
});
