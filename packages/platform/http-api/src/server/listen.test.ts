import { expect, test } from '@jest/globals';
import { urlOf } from './listen.ts';

test.each([
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['::', 'http://127.0.0.1:8080'],
  ['::1', 'http://[::1]:8080'],
  ['gateway.test', 'http://gateway.test:8080'],
])('a listener on %s is reached at %s', (host, url) => {
  expect(new URL(urlOf(host, 8080)).origin).toBe(url);
});
