import { expect, test } from '@jest/globals';
import { REQUEST_KINDS } from './hostile-requests.ts';
import { randomOf } from './random.ts';
import { readStrictly } from './strict-requests.ts';

const HOST = 'Host: a\r\n';

test.each([
  ['nothing', '', [], undefined],
  ['a request', `GET /a HTTP/1.1\r\n${HOST}\r\n`, ['/a'], undefined],
  [
    'two, with an empty line between',
    `GET /a HTTP/1.1\r\n${HOST}\r\n\r\nGET /b HTTP/1.1\r\n${HOST}\r\n`,
    ['/a', '/b'],
    undefined,
  ],
  ['a body', `POST /a HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabcGET /b HTTP/1.0\r\n\r\n`, ['/a', '/b'], undefined],
  ['a body that is cut', `POST /a HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nab`, [], undefined],
  ['chunks', `POST /a HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: a\r\n\r\n`, ['/a'], undefined],
  ['a line feed before the request', `\nGET /a HTTP/1.1\r\n${HOST}\r\n`, ['/a'], undefined],
  ['a bare line feed', `GET /a HTTP/1.1\n${HOST}\r\n`, [], 'bare LF'],
  ['a folded line', `GET /a HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`, [], 'field line'],
  [
    'a length beside a coding',
    `POST /a HTTP/1.1\r\n${HOST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n`,
    [],
    'coding',
  ],
  ['two lengths', `POST /a HTTP/1.1\r\n${HOST}Content-Length: 3\r\nContent-Length: 3\r\n\r\n`, [], 'length'],
  [
    'a chunk that is too long',
    `POST /a HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n`,
    [],
    'chunk end',
  ],
  ['no version', `GET /a\r\n${HOST}\r\n`, [], 'request line'],
])('%s', (_name, text, targets, refusal) => {
  const reading = readStrictly(text);
  expect({ targets: reading.whole.map(({ target }) => target), refusal: reading.refusal }).toEqual({ targets, refusal });
});

test('a case is determined by its seed and its number', () => {
  for (const make of Object.values(REQUEST_KINDS)) {
    expect(make(randomOf(3, 17), 17)).toEqual(make(randomOf(3, 17), 17));
  }
});
