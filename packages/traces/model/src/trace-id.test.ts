import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createdAtOf, createTraceIds, firstIdOf } from './trace-id.ts';
import { traceIdIn } from './traceparent.ts';

const hex = (id: Uint8Array) => Buffer.from(id).toString('hex');

test('an id is a UUIDv7 of its creation time', () => {
  const createId = createTraceIds((count) => new Uint8Array(count).fill(0xff));
  expect(hex(createId(Date.UTC(2026, 10, 21)))).toMatch(/^[0-9a-f]{12}7000b[f]{15}$/);
});

test('ids sort by (created_at, order of creation), and contain their created_at', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { maxLength: 50 }), fc.integer({ min: 0, max: 2 ** 47 }), (steps, start) => {
      let seed = 0;
      const createId = createTraceIds((count) => new Uint8Array(count).fill((seed += 101)));
      let now = start;
      const ids = steps.map((step) => ({ now: (now += step), id: createId(now) }));
      expect(ids.map(({ id }) => hex(id)).toSorted()).toEqual(ids.map(({ id }) => hex(id)));
      for (const { id, now: at } of ids) {
        expect(createdAtOf(id)).toBe(at);
        expect(Buffer.compare(firstIdOf(at), id)).toBeLessThanOrEqual(0);
        expect(Buffer.compare(firstIdOf(at + 1), id)).toBe(1);
      }
    }),
  );
});

test('even when the clock is set back, ids sort by created_at, contain it, and are unique', () => {
  const moments = fc.array(fc.constantFrom(-3_600_000, -1, 0, 0, 1, 3_600_000), { maxLength: 100 });
  fc.assert(
    fc.property(moments, (steps) => {
      let seed = 0;
      const createId = createTraceIds((count) => {
        const bytes = new Uint8Array(count);
        new DataView(bytes.buffer).setUint32(count - 4, (seed += 1));
        return bytes;
      });
      let now = Date.UTC(2026, 2, 1);
      const made = steps.map((step) => ({ at: (now += step), id: createId(now) }));
      const byId = made.toSorted((a, b) => Buffer.compare(a.id, b.id));
      expect(byId.map(({ at }) => at)).toEqual(made.map(({ at }) => at).toSorted((a, b) => a - b));
      expect(made.map(({ id }) => createdAtOf(id))).toEqual(made.map(({ at }) => at));
      expect(new Set(made.map(({ id }) => hex(id))).size).toBe(made.length);
    }),
  );
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test.each([
  [`00-${TRACE}-${SPAN}-01`, TRACE],
  [` 00-${TRACE}-${SPAN}-00 `, TRACE],
  // A future version may have more fields.
  [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`, TRACE],
  [`00-${TRACE}-${SPAN}-01-more`, ''],
  [`ff-${TRACE}-${SPAN}-01`, ''],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, ''],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, ''],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, ''],
  [`00-${TRACE}-${SPAN}`, ''],
  [`00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`, ''],
  [undefined, ''],
  ['', ''],
])('the trace id of %j is %j', (header, traceId) => {
  expect(traceIdIn(header)).toBe(traceId);
});
