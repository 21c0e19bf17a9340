import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readRequestLine } from './request-line.ts';

const read = (text: string) => readRequestLine(Buffer.from(text, 'latin1'));
const LONG = 'a'.repeat(5_000);

test.each([
  ['a whole line', 'POST /openai/v1 HTTP/1.1\r\nHost: a\r\n', 'POST', '/openai/v1'],
  ['of HTTP/1.0, behind empty lines', '\r\n\r\nGET /openai/v1 HTTP/1.0\r\n', 'GET', '/openai/v1'],
  ['that is longer than what is looked at', `GET /openai/${LONG} HTTP/1.1\r\n`, 'GET', `/openai/${LONG}`.slice(0, 2_048)],
  ['with another method', 'M-SEARCH * HTTP/1.1\r\n', 'M-SEARCH', '*'],
])('%s is read', (_, text, method, target) => {
  expect(read(text)).toEqual({ method, target });
});

test.each([
  ['nothing', ''],
  ['the middle of a head', 'X-Large: aaaa\r\n'],
  ['a line that has not ended', 'GET /openai/v1 HTTP/1.1'],
  ['a space in the target', 'GET /openai/v1 x HTTP/1.1\r\n'],
  ['bytes that no target has', 'GET /openai/\x00 HTTP/1.1\r\n'],
  ['bytes above ASCII', 'GET /openai/\xe9 HTTP/1.1\r\n'],
  ['another version', 'GET /openai HTTP/2.0\r\n'],
  ['a method in small letters', 'get /openai HTTP/1.1\r\n'],
  ['a TLS hello', '\x16\x03\x01\x00\xc8'],
])('%s is not a request line', (_, text) => {
  expect(read(text)).toBeUndefined();
});

test('no bytes are not a request line', () => {
  expect(readRequestLine(undefined)).toBeUndefined();
});

test('for any bytes, the result is short and part of the input', () => {
  const part = fc.constantFrom('GET ', '/openai/', ' HTTP/1.1\r\n', '\r\n', 'x'.repeat(3_000), ' ', '\0', 'POST ');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      const line = read(text);
      if (line === undefined) return;
      expect(line.target.length).toBeLessThanOrEqual(2_048);
      expect(text).toContain(`${line.method} ${line.target}`);
    }),
  );
});
