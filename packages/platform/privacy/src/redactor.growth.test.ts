import { expect, test } from '@jest/globals';
import { openPrivacyContext } from './privacy-context.ts';
import { Redactor } from './redactor.ts';
import { TEST_RULES } from './testing/test-rules.ts';

const CONTEXT = openPrivacyContext(TEST_RULES);

test.each([
  ['quotes', '"'.repeat(300_000)],
  ['backslashes', `{"a":"${'\\\\'.repeat(150_000)}@`],
  ['signs of addresses', 'a@'.repeat(150_000)],
  ['one long local part', `${'a'.repeat(300_000)}@b`],
  ['base64', `{"a":"${Buffer.alloc(225_000, 'x+1@').toString('base64')}", "b":"@"}`],
  ['digits', '1-'.repeat(150_000) + '12-3456'],
  ['pluses', '+1'.repeat(150_000)],
  ['denied names', '"token":'.repeat(40_000)],
  ['denied names with braces', '{"token":{'.repeat(30_000)],
  ['names of parts', '; name="token"\r\n'.repeat(20_000)],
  ['brackets of a form', 'a[='.repeat(100_000)],
  ['addresses of a form', 'a%40b.com='.repeat(30_000)],
  ['fragments', 'data: {"text":"a@'.repeat(20_000)],
  ['lines of events that never end', 'data: {"text":"a@\n'.repeat(20_000)],
  ['one event of many lines', `data: {"a":[0\n${'data: ,"a@b.com"\n'.repeat(20_000)}data: ]}\n\n`],
  ['texts in turns', Array.from({ length: 6_000 }, (_, at) => `data: {"index":${at % 99},"delta":"a@b.com "}\n\n`).join('')],
  ['keys', Array.from({ length: 9_000 }, (_, at) => `{"k${at % 3_000}":"a@b${at}.com"}\n`).join('')],
  ['brackets', `data: ${'['.repeat(300_000)}`],
  ['beginnings of private keys', '-----BEGIN PRIVATE KEY-----\n'.repeat(10_000)],
  ['private keys', `-----BEGIN PRIVATE KEY-----\n${'a'.repeat(64)}\n-----END PRIVATE KEY-----\n`.repeat(2_000)],
  ['private keys in events', `data: {"text":"-----BEGIN PRIVATE KEY-----\\n${'a'.repeat(64)}"}\n\n`.repeat(2_000)],
  ['passwords of URLs', 'h://a:b@c.com,'.repeat(20_000)],
  ['line ends', '\r'.repeat(300_000)],
  ['schemas', `{"properties":{${'"token":{"type":"string"},'.repeat(12_000)}"a":{}}}`],
  ['schemas in schemas', '{"properties":{"token":{"type":"object",'.repeat(8_000)],
  ['schemas behind schemas', `${'{"b":'.repeat(9_000)}1${',"token":{"type":"string"}}'.repeat(9_000)}`],
])('a body is redacted in linear time: %s', (_, text) => {
  for (const kind of ['json', 'sse', undefined] as const) {
    const started = performance.now();
    new Redactor(CONTEXT, 'default').body(text, kind);
    expect(performance.now() - started).toBeLessThan(3_000);
  }
});
