import { expect, test } from '@jest/globals';
import { sitemapLocations } from './sitemap-products.ts';

const MIB = 1024 * 1024;

test.each<readonly [string, unknown, readonly string[]]>([
  [
    'addresses',
    '<urlset><url><loc> https://a.com/?a=1&amp;b=2 </loc></url><url><loc>http://a.com/b</loc></url>',
    ['https://a.com/?a=1&b=2', 'http://a.com/b'],
  ],
  ['addresses that are quoted', '<loc><![CDATA[ https://a.com/a?b&c ]]></loc>', ['https://a.com/a?b&c']],
  ['what is no address', '<loc>javascript:alert(1)</loc><loc></loc><loc>/p/1</loc>', []],
  ['an address that is too long', `<loc>https://a.com/${'a'.repeat(2_048)}</loc><loc>https://a.com/b</loc>`, ['https://a.com/b']],
  ['one that does not end', '<loc>https://a.com/a</loc><loc>https://a.com/b', ['https://a.com/a']],
  // A search from each opening tag to the single end would pass 10^13 characters.
  ['beginnings without ends', `${'<loc>'.repeat(3 * MIB)}</loc><loc>https://a.com/b</loc>`, ['https://a.com/b']],
  ['no text', { loc: 'https://a.com/a' }, []],
])('%s', (_, body, expected) => expect(sitemapLocations(body)).toEqual(expected));

test('no more than 50,000 are read', () => {
  expect(sitemapLocations('<loc>https://a.com/a</loc>'.repeat(50_010))).toHaveLength(50_000);
});
