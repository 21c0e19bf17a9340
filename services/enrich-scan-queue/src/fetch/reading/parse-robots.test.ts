import { expect, test } from '@jest/globals';
import { parseRobots } from './parse-robots.ts';

const forAll = (...rules: string[]) => ['User-agent: *', ...rules].join('\n');

// Spec: RFC 9309; the examples of its sections 2.2.2, 2.2.3 and 5 are among them.
test.each([
  ['no rules allow', '', '/x', true],
  ['an empty rule matches nothing', forAll('Disallow:'), '/x', true],
  ['all is denied', forAll('Disallow: /'), '/x', false],
  ['robots.txt itself is always allowed', forAll('Disallow: /'), '/robots.txt', true],
  ['a prefix', forAll('Disallow: /cart'), '/cart/change', false],
  ['case matters in paths', forAll('Disallow: /Cart'), '/cart', true],
  ['the longest match decides', forAll('Allow: /shop/open', 'Disallow: /shop'), '/shop/open/1', true],
  ['whatever the order', forAll('Disallow: /shop', 'Allow: /shop/open'), '/shop/open/1', true],
  ['the longer Disallow decides', forAll('Allow: /p', 'Disallow: /p/'), '/p/1', false],
  ['Allow wins a tie', forAll('Disallow: /page', 'Allow: /page'), '/page', true],
  ['a star', forAll('Disallow: /*/print'), '/a/b/print?x', false],
  ['a star needs its rest', forAll('Disallow: /*/print'), '/print', true],
  ['a star counts in length', forAll('Allow: /a', 'Disallow: /*.php'), '/a.php', false],
  ['an end', forAll('Disallow: /*.php$'), '/x.php', false],
  ['an end that is not there', forAll('Disallow: /*.php$'), '/x.php?y', true],
  ['an end alone', forAll('Disallow: /$'), '/x', true],
  ['overlapping parts do not match twice', forAll('Disallow: /ab*ba$'), '/aba', true],
  ['escapes are the same octets', forAll('Disallow: /a%3Cd.html'), '/a%3cd.html', false],
  ['escapes of unreserved characters', forAll('Disallow: /%7Ejoe'), '/~joe/x', false],
  ['text beyond ASCII', forAll('Disallow: /foo/bar/ツ'), '/foo/bar/%E3%83%84', false],
  ['an escaped slash is no slash', forAll('Disallow: /a%2Fb'), '/a/b', true],
  ['our own group instead of all', `${forAll('Disallow: /')}\n\nUser-agent: vitrinebot\nDisallow: /private`, '/x', true],
  ['our own group with a version', `${forAll('Allow: /')}\nUser-agent: VitrineBot/1.0\nDisallow: /`, '/x', false],
  [
    'groups of one name are joined',
    'User-agent: VitrineBot\nDisallow: /a\nUser-agent: *\nDisallow: /\nUser-agent: VitrineBot\nDisallow: /b',
    '/b',
    false,
  ],
  ['several names of one group', 'User-agent: other\nUser-agent: VitrineBot\nDisallow: /', '/x', false],
  ['a group of another robot', 'User-agent: other\nDisallow: /', '/x', true],
  ['a longer name is another robot', 'User-agent: VitrineBotImages\nDisallow: /', '/x', true],
  ['rules before any group', 'Disallow: /\nUser-agent: *\nAllow: /', '/x', true],
  ['comments, spaces, case of fields', ' USER-AGENT : * # all\r\n disallow: /x # not this', '/x', false],
  ['a byte order mark', `\uFEFF${forAll('Disallow: /')}`, '/x', false],
  ['sitemaps do not end a group', 'User-agent: *\nSitemap: https://example.com/s.xml\nDisallow: /x', '/x', false],
  ['a page of HTML', '<html><body>Disallow: / is no rule here</body></html>', '/x', true],
])('%s', (_, text, path, allowed) => {
  expect(parseRobots(text, 'VitrineBot').isAllowed(path)).toBe(allowed);
});

test('Crawl-delay and sitemaps are read', () => {
  const text = 'User-agent: *\nCrawl-delay: 2.5\nDisallow: /x\n\nSitemap: https://example.com/sitemap.xml';
  expect(parseRobots(text, 'VitrineBot')).toMatchObject({ crawlDelayMs: 2_500, sitemaps: ['https://example.com/sitemap.xml'] });
  for (const nonsense of ['-1', 'soon', '', '0'])
    expect(parseRobots(forAll(`Crawl-delay: ${nonsense}`), 'x').crawlDelayMs).toBeUndefined();
});

test('a hostile file of 500 KiB is read and applied', () => {
  const stars = forAll(
    `Disallow: /${'*a'.repeat(900)}b$`,
    ...Array.from({ length: 5_000 }, () => `Disallow: /${'*x'.repeat(40)}`),
  );
  const { isAllowed } = parseRobots(stars, 'VitrineBot');
  expect(isAllowed(`/${'a'.repeat(2_000)}`)).toBe(true);
  expect(isAllowed(`/${'a'.repeat(2_000)}b`)).toBe(false);
});
