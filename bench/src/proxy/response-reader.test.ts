import { describe, expect, test } from '@jest/globals';

import { ResponseReader } from './response-reader.ts';

const body = Buffer.from('0123456789abcdef');
const head = 'HTTP/1.1 200 OK\r\nDate: x\r\n';
const plain = `${head}Content-Length: 16\r\n\r\n${body.toString()}`;
const chunked = `${head}transfer-encoding: chunked\r\n\r\n4\r\n0123\r\nC;x=y\r\n456789abcdef\r\n0\r\n\r\n`;

/** Pushes the response in parts of `size` bytes; the first reading that is not `more`, and the reader. */
function read(response: string, size = response.length) {
  const reader = new ResponseReader();
  reader.expect(body);
  const bytes = Buffer.from(response);
  for (let at = 0; at < bytes.length; at += size) {
    const reading = reader.push(bytes.subarray(at, at + size));
    if (reading !== 'more') return { reading, reader };
  }
  return { reading: 'more', reader };
}

describe('a correct response is done at its last byte, in any segmentation', () => {
  test.each([
    ['content-length', plain],
    ['chunked', chunked],
  ])('%s', (_, response) => {
    for (let size = 1; size <= response.length; size += 1) expect(read(response, size).reading).toBe('done');
    expect(read(response.slice(0, -1))).toMatchObject({ reading: 'more' });
  });
});

test('received body bytes are counted, so that a client can leave in the middle', () => {
  expect(read(chunked.slice(0, chunked.indexOf('\r\nC;'))).reader.seen).toBe(4);
});

test('one reader reads one response after the other', () => {
  const { reader } = read(plain);
  reader.expect(body);
  expect(reader.push(Buffer.from(chunked))).toBe('done');
});

test.each([
  ['another status', plain.replace('200 OK', '502 Bad Gateway'), 'status 502'],
  ['a changed byte', plain.replace('789', '7x9'), 'body differs after byte 0'],
  ['another length', plain.replace('16', '15'), 'content-length 15 instead of 16'],
  ['no length', `${head}\r\n`, 'response without a length'],
  ['a lost chunk', chunked.replace('C;x=y\r\n456789abcdef\r\n', ''), 'body ended whole after 4 of 16 bytes'],
  ['an invented chunk', chunked.replace('0\r\n\r\n', '1\r\n!\r\n0\r\n\r\n'), 'more bytes than expected'],
  ['a chunk size that is no number', chunked.replace('4\r\n', 'zz\r\n'), 'a chunk size that is no number'],
  ['bytes behind the end', `${plain}!`, 'bytes after the end of the response'],
])('%s is broken', (_, response, fault) => {
  const { reading, reader } = read(response);
  expect([reading, reader.fault]).toEqual(['broken', fault]);
});
