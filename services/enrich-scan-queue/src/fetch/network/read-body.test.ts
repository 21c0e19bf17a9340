import { expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { readBody } from './read-body.ts';

const XML = '<urlset><url><loc>https://example.com/mug</loc></url></urlset>';
const read = async (body: Buffer, encoding = '', maxBytes = 1_000, isGzipFile = true) =>
  (await readBody(Readable.from([body.subarray(0, 1), body.subarray(1)]), encoding, { maxBytes, isGzipFile })).toString();

test.each([
  ['a file of gzip', gzipSync(XML), '', XML],
  ['a file that is none', Buffer.from(XML), '', XML],
  ['an empty file', Buffer.alloc(0), '', ''],
  ['a file that is encoded for its way', brotliCompressSync(XML), 'br', XML],
])('%s is read', async (_, body, encoding, text) => {
  expect(await read(body, encoding)).toBe(text);
});

test('the limit of a gzip file applies to decoded bytes', async () => {
  await expect(read(gzipSync(Buffer.alloc(2_000_000)))).rejects.toMatchObject({ reason: 'too_large' });
});

test('a gzip file within another encoding is one layer too many and stays encoded', async () => {
  expect(await read(gzipSync(gzipSync(XML)), 'gzip')).not.toContain('<urlset');
  expect(await read(gzipSync(XML), '', 1_000, false)).not.toContain('<urlset');
});

test('a file that only begins like gzip cannot be decoded', async () => {
  await expect(read(Buffer.from([0x1f, 0x8b, 1, 2, 3]))).rejects.toMatchObject({ reason: 'http_error' });
});
