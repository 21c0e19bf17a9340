import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ChunkedBody } from '../upstream/chunked-body.ts';
import { framedChunks } from './framed-chunks.ts';

test('framed chunks are read back one by one', () => {
  const chunk = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 40 }),
    fc.constantFrom(15, 16, 255, 256, 4_096, 65_536).map((length) => new Uint8Array(length).fill(0x0a)),
  );
  fc.assert(
    fc.property(fc.array(chunk, { minLength: 1, maxLength: 8 }), (chunks) => {
      const framed = framedChunks(chunks);
      const read: string[] = [];
      const taken = new ChunkedBody().push(framed, { onData: (data) => read.push(data.toString('latin1')) });
      expect(taken).toBe(framed.length);
      expect(read).toEqual(chunks.map((bytes) => Buffer.from(bytes).toString('latin1')));
    }),
  );
});

test('a size is written in hexadecimal', () => {
  expect(framedChunks([Buffer.from('0123456789abcdef0'), Buffer.from('x')]).toString()).toBe(
    '11\r\n0123456789abcdef0\r\n1\r\nx\r\n',
  );
});
