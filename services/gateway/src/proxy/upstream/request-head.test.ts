import { expect, test } from '@jest/globals';
import { codeOf } from '@vitrine/faults/fault';
import { writeRequestHead, type UpstreamRequest } from './request-head.ts';

const request = (more: Partial<UpstreamRequest>): UpstreamRequest => ({
  method: 'POST',
  path: '/v1/x?y=1',
  headers: ['X-A', 'b', 'content-length', '7', 'x-a', 'caf\u00e9'],
  body: undefined,
  ...more,
});
const START = 'POST /v1/x?y=1 HTTP/1.1\r\nHost: api.test\r\nConnection: keep-alive\r\nX-A: b\r\nx-a: caf\u00e9\r\n';
const chunks = (async function* () {})();

test.each([
  ['a body has its own length', { body: Buffer.from('hello') }, `${START}Content-Length: 5\r\n\r\n`],
  ['chunks have the declared length', { body: chunks }, `${START}Content-Length: 7\r\n\r\n`],
  [
    'chunks of unknown length are chunked',
    { body: chunks, headers: ['X-A', 'b', 'x-a', 'caf\u00e9'] },
    `${START}Transfer-Encoding: chunked\r\n\r\n`,
  ],
  ['a POST without a body says so', { headers: ['X-A', 'b', 'x-a', 'caf\u00e9'] }, `${START}Content-Length: 0\r\n\r\n`],
])('%s', (_, more, head) => {
  expect(writeRequestHead(request(more), 'api.test').head).toBe(head);
});

test('a GET without a body has no length header', () => {
  expect(writeRequestHead(request({ method: 'GET', headers: [] }), 'api.test').head).not.toMatch(/length|encoding/i);
});

test.each([
  ['in a value', { headers: ['X', 'a\r\nX-Evil: 1'] }],
  ['in a name', { headers: ['X\nY', 'a'] }],
  ['in the path', { path: '/x HTTP/1.1\r\nX: 1' }],
  ['as a null byte', { headers: ['X', 'a\0'] }],
])('a line break %s is refused', (_, more) => {
  let code = '';
  try {
    writeRequestHead(request(more), 'api.test');
  } catch (error) {
    code = codeOf(error);
  }
  expect(code).toBe('request_failed');
});
