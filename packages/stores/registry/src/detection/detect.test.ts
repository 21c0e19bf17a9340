import { expect, test } from '@jest/globals';
import { extractPageEvidence } from '../evidence/extract-page-evidence.ts';
import type { StoreEvidence } from '../evidence/evidence.ts';
import { LITERAL_VERSIONS } from '../rules/literals.ts';
import { REGISTRY_INDEX, RuleIndex } from '../rules/rule-index.ts';
import { readCorpus } from '../testing/corpus.ts';
import { REMOVABLE_CHANNELS, withoutChannel } from '../testing/corpus-figures.ts';
import { generatePage } from '../testing/generate-page.ts';
import { TECHNOLOGY_RULES } from '../vocabulary.ts';
import { detect } from './detect.ts';

const CORPUS = readCorpus('corpus');
const scan = (html: string, headers = {}): StoreEvidence => ({
  version: 1,
  pages: [extractPageEvidence({ html, url: 'https://shop.test/', pageClass: 'home', headers })],
  endpoints: {},
});
const summary = (evidence: StoreEvidence) =>
  Object.fromEntries(
    detect(evidence).technologies.map(({ slug, confidence, install_state }) => [slug, `${confidence} ${install_state}`]),
  );

const SHOPIFY = '<script>Shopify.shop = "a.myshopify.com";</script>';
const THEME = '<script>Shopify.theme = {"schema_name":"Dawn","role":"main"};</script>';

test.each([
  ['one strong channel', '<script src="https://js.stripe.com/v3/"></script>', { stripe: 'medium active' }],
  [
    'two independent channels',
    `<script src="https://js.stripe.com/v3/"></script><script>Stripe('pk_1')</script>`,
    { stripe: 'high active' },
  ],
  [
    'two hits of one channel',
    '<script src="https://js.stripe.com/v3/"></script><script src="https://js.stripe.com/b/"></script>',
    { stripe: 'medium active' },
  ],
  [
    'a script that Shopify passes on from its own host',
    `<script src="https://cdn.shopify.com/proxy/${'0a'.repeat(32)}/apps.bazaarvoice.com/deployments/a/bv.js"></script>`,
    { bazaarvoice: 'medium active' },
  ],
  [
    "a path on another host that has the site's styles, scripts and pictures",
    '<link rel="stylesheet" href="//cdn.test/a.css"><img src="//cdn.test/a.png"><script src="//cdn.test/plugins/woocommerce/a.js"></script>',
    { woocommerce: 'medium active' },
  ],
  [
    'a path on another host that has scripts and styles only',
    '<link rel="stylesheet" href="//cdn.test/a.css"><script src="//cdn.test/plugins/woocommerce/a.js"></script>',
    {},
  ],
  ['one weak channel', '<p class="jdgm-widget">', { 'judge-me': 'low configured' }],
  [
    'one weak channel and a hint',
    '<p class="jdgm-widget"><link rel="preconnect" href="https://cdn.judge.me">',
    { 'judge-me': 'medium configured' },
  ],
  ['hints alone', '<link rel="preconnect" href="https://cdn.judge.me">', {}],
  [
    'a strong channel and a hint',
    '<script src="https://js.stripe.com/v3/"></script><link rel="preconnect" href="https://js.stripe.com">',
    { stripe: 'medium active' },
  ],
  [
    'a picture of a product of another shop',
    '<img src="https://acme.vtexassets.com/arquivos/ids/1/x.jpg"><img src="https://media.zid.store/a/b.jpg">',
    {},
  ],
  [
    'a setting without anything that reads it',
    '<script>x.checkout = {"stripe_publishable_key":"pk_live_1"}</script>',
    { stripe: 'low configured' },
  ],
  [
    'hosts alone in a list of code',
    `<script>block = ['https://static.hotjar.com', 'js.stripe.com', 'https://cdn.mouseflow.com/projects/1.js'];</script>`,
    { hotjar: 'low configured', mouseflow: 'medium active' },
  ],
  ['a script that waits', '<script type="text/plain" src="https://js.stripe.com/v3/"></script>', { stripe: 'medium configured' }],
])('confidence counts independent channels: %s', (_, html, expected) => {
  expect(summary(scan(html))).toEqual(expected);
});

test('a theme is withheld if its platform was not seen, and reported with it', () => {
  const { technologies, withheld } = detect(scan(THEME));
  expect(withheld).toContain('shopify-theme-dawn');
  expect(technologies.map(({ slug }) => slug)).not.toContain('shopify-theme-dawn');
  expect(detect(scan(SHOPIFY + THEME)).technologies.map(({ slug }) => slug)).toEqual(['shopify', 'shopify-theme-dawn']);
});

test('a network is withheld if no platform is known, or if the platform uses it for all its stores', () => {
  const edge = { 'cf-ray': '1-FRA', server: 'cloudflare' };
  expect(detect(scan('', edge)).withheld).toEqual(['cloudflare']);
  expect(detect(scan(SHOPIFY, edge)).withheld).toEqual(['cloudflare']);
  expect(detect(scan('<meta name="generator" content="WooCommerce 9">', edge)).technologies.map(({ slug }) => slug)).toEqual([
    'cloudflare',
    'woocommerce',
  ]);
});

test('a seen technology is always reported or withheld when a scan loses a channel', () => {
  const offenders = CORPUS.flatMap(({ name, evidence }) => {
    const { technologies, withheld } = detect(evidence);
    const known = new Set([...technologies.map(({ slug }) => slug), ...withheld]);
    return REMOVABLE_CHANNELS.flatMap((channel) => {
      const less = detect(withoutChannel(evidence, channel));
      return less.technologies.filter(({ slug }) => !known.has(slug)).map(({ slug }) => `${name} without ${channel}: ${slug}`);
    });
  });
  expect(offenders).toEqual([]);
});

test('newer rules withhold technologies that evidence without their literals cannot prove', () => {
  const later = new RuleIndex(TECHNOLOGY_RULES, { version: LITERAL_VERSIONS.version + 1, since: {} });
  for (const { evidence } of CORPUS) {
    const old = { ...evidence, pages: evidence.pages.map((page) => ({ ...page, inlineNames: [] })) };
    const current = { ...evidence, pages: evidence.pages.map((page) => ({ ...page, literals: LITERAL_VERSIONS.version + 1 })) };
    const replayed = detect(old, later);
    const judged = new Set([...replayed.technologies.map(({ slug }) => slug), ...replayed.withheld]);
    expect(detect(current, later).technologies.filter(({ slug }) => !judged.has(slug))).toEqual([]);
  }
});

test('more rules on the same evidence remove no technology and lower no confidence', () => {
  const RANKS = ['low', 'medium', 'high'];
  const fewer = new RuleIndex(
    Object.fromEntries(
      Object.entries(TECHNOLOGY_RULES).map(([slug, rules]) => [
        slug,
        { ...rules, markup: [], inline: [], settings: [], excludes: [] },
      ]),
    ),
  );
  for (const { evidence } of CORPUS) {
    const after = detect(evidence, REGISTRY_INDEX);
    const lost = detect(evidence, fewer).technologies.filter(({ slug, confidence }) => {
      const now = after.technologies.find((technology) => technology.slug === slug);
      return now === undefined ? !after.withheld.includes(slug) : RANKS.indexOf(now.confidence) < RANKS.indexOf(confidence);
    });
    expect(lost).toEqual([]);
  }
});

test('readable channels are those of every page of a class without full lists', () => {
  const full = Array.from({ length: 400 }, (_, i) => `<script src="//v${i}.test/"></script>`).join('');
  const evidence = {
    ...scan(''),
    endpoints: { 'shopify.myshopify_domain': 'a.myshopify.com' },
    pages: [...scan('').pages, ...scan(full).pages],
  };
  const { pages, technologies } = detect(evidence);
  expect(pages['home']).toEqual(expect.arrayContaining(['inline', 'header', 'cookie', 'markup']));
  expect(pages['home']).not.toContain('host');
  expect(pages['endpoint']).toEqual(['endpoint']);
  expect(technologies).toMatchObject([{ slug: 'shopify', sightings: [{ page_class: 'endpoint', channel: 'endpoint' }] }]);
});

test('evidence is JSON: stored evidence gives the same detections', () => {
  for (const { evidence } of CORPUS)
    expect(detect(JSON.parse(JSON.stringify(evidence)) as StoreEvidence)).toEqual(detect(evidence));
});

test('the generated page for measurements resembles a shop', () => {
  const html = generatePage(300_000);
  expect(html.length).toBeGreaterThan(295_000);
  expect(Object.keys(summary(scan(html)))).toEqual(
    expect.arrayContaining(['shopify', 'shopify-theme-dawn', 'klaviyo', 'meta-pixel', 'stripe']),
  );
});
