import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { HmacSha256 } from './hmac-sha-256.ts';

const MAX_LENGTH = 256;

test('is what node makes of it, for keys of any length, one text after the other', () => {
  const text = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    maxLength: MAX_LENGTH,
  });
  const key = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(key, fc.array(text, { minLength: 1, maxLength: 4 }), (secret, texts) => {
      const hmac = new HmacSha256(secret, MAX_LENGTH);
      for (const one of texts) expect(hmac.of(one)).toBe(createHmac('sha256', secret).update(one, 'latin1').digest('binary'));
    }),
  );
});

test('a text that is too long is refused, not cut', () => {
  expect(() => new HmacSha256(Buffer.from('key'), 8).of('123456789')).toThrow(RangeError);
});
