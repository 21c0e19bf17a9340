import { expect, test } from '@jest/globals';
import { createdAtOf } from '@vitrine/traces/trace-id';
import fc from 'fast-check';
import { newTraceId } from './import-traces.ts';

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
