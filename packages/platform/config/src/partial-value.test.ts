import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { partialValue } from './partial-value.ts';
import { Secret } from './secret.ts';

const schema = z
  .strictObject({
    port: z.int().min(1).default(80),
    name: z.string().optional(),
    part: z.strictObject({ path: z.string().startsWith('/'), size: z.int() }).prefault({ path: '/', size: 1 }),
    keys: z.array(z.strictObject({ id: z.string(), token: z.string().transform((text) => new Secret(text)) })).default([]),
    plans: z.record(z.string(), z.strictObject({ rate: z.int().default(0) })).default({}),
  })
  .refine(() => false, 'is refused as a whole');

test('valid parts keep their position', () => {
  expect(
    partialValue(schema, {
      port: 'x',
      name: 'n',
      part: { path: 'x', size: 2, more: 1 },
      keys: [{ id: 1, token: 'abc' }, 'nonsense', { id: 'b' }],
      plans: { gold: { rate: 'x' }, silver: {}, bad: 3 },
      extra: 1,
    }),
  ).toEqual({
    port: undefined,
    name: 'n',
    part: { path: undefined, size: 2 },
    keys: [{ id: undefined, token: expect.any(Secret) }, undefined, { id: 'b', token: undefined }],
    plans: { gold: { rate: undefined }, silver: { rate: 0 }, bad: undefined },
  });
});

test('defaults apply to missing parts', () => {
  expect(partialValue(schema, {})).toEqual({ port: 80, part: { path: '/', size: 1 }, keys: [], plans: {} });
  expect(partialValue(schema, 'nonsense')).toBeUndefined();
});

test('a valid input is returned completely', () => {
  const accepting = z.strictObject(schema.shape);
  const input = fc.record(
    {
      port: fc.integer({ min: 1 }),
      name: fc.string(),
      keys: fc.array(fc.record({ id: fc.string(), token: fc.string() })),
      plans: fc.dictionary(fc.string(), fc.record({ rate: fc.integer() }, { requiredKeys: [] })),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(input, (value) => {
      expect(JSON.stringify(partialValue(accepting, value))).toBe(JSON.stringify(accepting.parse(value)));
    }),
  );
});
