import { describe, expect, test } from '@jest/globals';
import { JSON_BODY, kindOf, requestBytes, STREAM_EVENTS } from './exchange.ts';
import { ResponseReader } from './response-reader.ts';

test.each(['json', 'stream', 'stream-cut'] as const)(
  'a %s request is whole HTTP with 1,024 bytes of JSON, and the mock knows its kind',
  (kind) => {
    const [head = '', body = ''] = requestBytes(kind, 8080, '/openai/v1/chat/completions').toString().split('\r\n\r\n');
    expect(head).toMatch(/^POST \/openai\/v1\/chat\/completions HTTP\/1\.1\r\nhost: 127\.0\.0\.1:8080\r\n/);
    expect(head).toMatch(/\r\ncontent-length: 1024$/);
    expect(body).toHaveLength(1024);
    expect(JSON.parse(body)).toMatchObject({ model: 'gpt-4o-mini', stream: kind !== 'json' });
    expect(kindOf(Buffer.from(body))).toBe(kind);
  },
);

test('the JSON response is 2,048 bytes with usage', () => {
  expect(JSON_BODY).toHaveLength(2048);
  expect(JSON.parse(JSON_BODY.toString())).toMatchObject({ usage: { total_tokens: 616 } });
});

test('the streamed response is 50 chunks, the last with usage, and [DONE]', () => {
  const data = STREAM_EVENTS.map((event) => /^data: (.*)\n\n$/.exec(event.toString())?.[1] ?? '');
  expect(data.pop()).toBe('[DONE]');
  expect(data).toHaveLength(50);
  expect(data.map((text) => JSON.parse(text) as unknown).at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 262 } });
});

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
