import { expect, test } from '@jest/globals';
import { createRequire } from 'node:module';
import { PUBLIC_SUFFIX_LIST, registrableDomain, TENANT_SUFFIXES } from './registrable-domain.ts';
import { parse } from 'tldts';

test('the version of the public suffix list in the checksum is the installed one', () => {
  const { name, version } = createRequire(import.meta.url)('tldts/package.json') as { name: string; version: string };
  expect(PUBLIC_SUFFIX_LIST).toBe(`${name}@${version}`);
});

test.each(TENANT_SUFFIXES)('%s: a store below it has its own domain, and the suffix itself has none', (suffix) => {
  expect([registrableDomain(`www.shop.${suffix}`), registrableDomain(suffix)]).toEqual([`shop.${suffix}`, undefined]);
});

test('no tenant suffix is in the public suffix list', () => {
  const inList = (suffix: string) => parse(`shop.${suffix}`, { allowPrivateDomains: true }).publicSuffix === suffix;
  expect(TENANT_SUFFIXES.filter(inList)).toEqual([]);
});

test.each([
  ['shop.example.co.uk', 'example.co.uk'],
  ['www.foo.myshopify.com', 'foo.myshopify.com'],
  ['foo.myshopify.com.evil.com', 'evil.com'],
  ['city.kawasaki.jp', 'city.kawasaki.jp'],
  ['www.ck', 'www.ck'],
  ['myshopify.com', undefined],
  ['co.uk', undefined],
  ['foo.onion', undefined],
  ['1.0.0.127.in-addr.arpa', undefined],
  ['foo.local', undefined],
  ['127.0.0.1', undefined],
])('the registrable domain of %s is %s', (hostname, domain) => {
  expect(registrableDomain(hostname)).toBe(domain);
});
