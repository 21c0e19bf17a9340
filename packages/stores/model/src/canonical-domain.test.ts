import { describe, expect, test } from '@jest/globals';
import { propertyRuns } from '@vitrine/testkit/property-runs';
import { anyCharacter } from '@vitrine/testkit/testing/any-character';
import fc from 'fast-check';
import { canonicalDomain } from './canonical-domain.ts';

const LABEL_OF_64 = 'a'.repeat(64);
/** A generous bound: the longest of these inputs takes 2 ms. */
const BOUND_MS = 500;

describe('the canonical domain', () => {
  test.each([
    ['Allbirds.com', 'allbirds.com'],
    ['https://www.allbirds.com/p?x#y', 'allbirds.com'],
    ['allbirds.com.', 'allbirds.com'],
    ['//allbirds.com/x', 'allbirds.com'],
    ['allbirds.com:8443', 'allbirds.com'],
    ['  allbirds.com\n', 'allbirds.com'],
    ['HTTPS:\\\\allbirds.com\\x', 'allbirds.com'],
    ['allbirds.com/@user', 'allbirds.com'],
    ['http://u:p@shop.Example.co.uk:8443/a', 'example.co.uk'],
    ['www.foo.myshopify.com', 'foo.myshopify.com'],
    ['foo.mybigcommerce.com', 'foo.mybigcommerce.com'],
    ['foo.company.site', 'foo.company.site'],
    ['foo.square.site', 'foo.square.site'],
    ['a.foo.wixsite.com', 'foo.wixsite.com'],
    ['foo.myshopify.com.evil.com', 'evil.com'],
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
    ['ＥＸＡＭＰＬＥ.com', 'example.com'],
    ['example。com', 'example.com'],
    ['straße.de', 'xn--strae-oqa.de'],
    ['☃.net', 'xn--n3h.net'],
    ['магазин.рф', 'xn--80aairftm.xn--p1ai'],
    ['city.kawasaki.jp', 'city.kawasaki.jp'],
    ['www.ck', 'www.ck'],
    ['foo_bar.example.com', 'example.com'],
  ])('of %j is %s', (input, domain) => {
    expect(canonicalDomain(input)).toBe(domain);
  });

  const noDomains = {
    'public suffixes': ['myshopify.com', 'co.uk', 'com', 'xn--p1ai'],
    addresses: ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', 'http://[::ffff:127.0.0.1]/'],
    'names of no public network': ['localhost', 'intranet', 'foo.local', 'foo.test', 'foo.internal', 'foo.onion', 'foo.invalid'],
    'names of examples': ['foo.example', 'foo.localhost'],
    'malformed labels': ['a..com', 'example.com..', '-foo.com', 'foo-.com', 'foo_bar.com', 'xn--\u00a0.com', '\ud800.com'],
    'long labels and names': [`${LABEL_OF_64}.com`, `${LABEL_OF_64}.example.com`, `${'a.'.repeat(126)}com`],
    'malformed URLs': [
      'exa mple.com',
      'exam\tple.com',
      'example.com:99999',
      'example.com%00.evil.com',
      'example.com/\u0000',
      '%',
    ],
    'other schemes': ['javascript:alert(1)', 'mailto:a@b.com', 'ftp://example.com'],
    'e-mail addresses': ['user@example.com', 'user:password@example.com'],
    'URLs without a host': ['', ' ', '.', '/', '//', 'https://', 'https:///'],
  };
  test.each(Object.entries(noDomains))('of %s is undefined', (_, inputs) => {
    expect(inputs.filter((input) => canonicalDomain(input) !== undefined)).toEqual([]);
  });

  const authority = fc.webAuthority({ withIPv4: true, withIPv6: true, withPort: true });
  const encoded = fc.string({ unit: anyCharacter }).map(encodeURIComponent);
  const userInfo = fc.array(fc.oneof(encoded, fc.constantFrom(...Array.from(`!$&'()*+,;=:`)))).map((parts) => parts.join(''));
  const url = fc
    .tuple(fc.constantFrom('http', 'https'), fc.webAuthority(), encoded)
    .map(([scheme, host, path]) => `${scheme}://${host}/${path}`);
  const hostLike = fc.oneof(
    fc.domain(),
    url,
    authority,
    fc.tuple(userInfo, authority).map((parts) => parts.join('@')),
    fc.string({ unit: anyCharacter }),
    fc
      .array(fc.constantFrom('a', 'xn--', '.', '。', '-', '_', '%', '%2e', '@', ':', '/', '\\', ' ', 'com', 'co.uk', 'ß', '0x'))
      .map((parts) => parts.join('')),
  );

  test('never throws and is idempotent', () => {
    fc.assert(
      fc.property(hostLike, (input) => {
        const domain = canonicalDomain(input);
        if (domain !== undefined) {
          expect(canonicalDomain(domain)).toBe(domain);
          expect(domain).toMatch(/^[a-z0-9.-]{3,253}$/);
        }
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });

  test('is the same for every host below it, in any letter case, with port, path, user and final dot', () => {
    const parts = { domain: fc.domain(), label: fc.stringMatching(/^[a-z0-9]{1,8}$/), port: fc.integer({ min: 1, max: 65_535 }) };
    fc.assert(
      fc.property(fc.record(parts), ({ domain, label, port }) => {
        const canonical = canonicalDomain(domain);
        fc.pre(canonical !== undefined && !canonicalDomain(`${label}.${canonical}`)?.startsWith(`${label}.`));
        expect(canonicalDomain(`https://user@${label}.${domain.toUpperCase()}.:${port}/path?${domain}`)).toBe(canonical);
      }),
    );
  });

  test.each(['a', '.', 'a.', '-', '%', '\u0000', 'ß', '@', ' '])('of a megabyte of %j takes bounded time', (text) => {
    const before = process.cpuUsage();
    expect(canonicalDomain(text.repeat(1_048_576))).toBeUndefined();
    expect(canonicalDomain(text.repeat(253))).toBeUndefined();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(BOUND_MS);
  });
});
