import { expect, test } from '@jest/globals';
import { pageEvidence } from './evidence.ts';
import { extractPageEvidence } from './extract-page-evidence.ts';

const read = (html: string, headers = {}) =>
  extractPageEvidence({ html, url: 'https://www.shop.example/', pageClass: 'home', headers, cookies: ['a_cookie'] });

test.each([
  ['a script', '<script src="https://CDN.Vendor.com/a/b.js?id=1#x"></script>', { scripts: ['cdn.vendor.com/a/b.js?id=1'] }],
  ['a script of the site', '<SCRIPT SRC=//www.shop.example/app.js></SCRIPT>', { scripts: ['/app.js'] }],
  ['a relative script', '<script src="app.js"></script>', { scripts: ['/app.js'] }],
  [
    'a relative script below a base',
    '<base href="https://cdn.vendor.com/x/"><script src="app.js"></script>',
    { scripts: ['cdn.vendor.com/app.js'] },
  ],
  ['entities in an address', '<script src="//v.com/a?x=1&amp;y=2"></script>', { scripts: ['v.com/a?x=1&y=2'] }],
  ['an address with a user', '<script src="https://vendor.com@evil.com/a.js"></script>', { scripts: ['evil.com/a.js'] }],
  [
    'a script that waits for consent',
    '<script type="text/plain" src="//v.com/a.js"></script>',
    { scripts: [], inertScripts: ['v.com/a.js'] },
  ],
  [
    'code that waits for consent',
    `<script type="text/plain">fbq('init', '1'); s.src="https://v.com/a.js"; f("AW-1234567")</script>`,
    { inlineUrls: [], inlineNames: [], inlineIds: [], inertScripts: ['v.com/a.js'] },
  ],
  [
    'scripts that an optimizer runs later',
    '<script type="rocketlazyloadscript" data-rocket-src="//v.com/a.js"></script><script type="0123456789abcdef01234567-text/javascript" src="//v.com/b.js"></script><script type="text/partytown">s="//v.com/c.js"</script><script type="javascript/blocked" data-wpmeteor-type="text/javascript" data-wpmeteor-src="//v.com/d.js"></script>',
    { scripts: ['v.com/a.js', 'v.com/b.js', 'v.com/d.js'], inertScripts: [], inlineUrls: ['v.com/c.js'] },
  ],
  [
    'a script that needs no consent',
    '<script data-cookieconsent="ignore" src="//v.com/a.js"></script><script data-cookieconsent="marketing" src="//v.com/b.js"></script>',
    { scripts: ['v.com/a.js'], inertScripts: ['v.com/b.js'] },
  ],
  [
    'a script of a type that is no media type, and those that no browser takes for scripts',
    '<script type="lightJs" src="//v.com/a.js"></script><script type="disabled" src="//v.com/b.js"></script><script type="text/x-template" src="//v.com/c.js"></script>',
    { scripts: ['v.com/a.js'], inertScripts: [] },
  ],
  [
    'a script in a template',
    '<template><script src="//v.com/a.js"></script><script type="text/plain" src="//v.com/b.js"></script></template>',
    { scripts: [], inertScripts: [] },
  ],
  [
    'a script that is fetched to run later',
    '<link rel="preload" as="script" href="//v.com/a.js"><link rel="preload" as="style" href="//v.com/a.css">',
    { scripts: ['v.com/a.js'], assets: ['v.com/a.css'] },
  ],
  ['a script in a comment', '<!-- <script src="//v.com/a.js"></script> -->', { scripts: [] }],
  ['a script in a text area', '<textarea><script src="//v.com/a.js"></script></textarea>', { scripts: [] }],
  ['a script after a title in SVG', '<svg><title/></svg><script src="//v.com/a.js"></script>', { scripts: ['v.com/a.js'] }],
  ['a script after an SVG without end', '<svg><path><div><script src="//v.com/a.js"></script>', { scripts: ['v.com/a.js'] }],
  ['an address in a script', '<script>s.src="https://v.com/a.js"</script>', { inlineUrls: ['v.com/a.js'] }],
  [
    'an address with escapes',
    String.raw`<script>u=["https:\/\/v.com\/a.js?x=1\u0026y=2"]</script>`,
    { inlineUrls: ['v.com/a.js?x=1&y=2'] },
  ],
  [
    'names of hosts alone',
    "<script>block = ['static.v.com', 'https://w.com/']</script>",
    { inlineUrls: ['w.com/'], hints: ['static.v.com'] },
  ],
  ['a host without a scheme', "<script>s.src=p+'cdn.v.tv/b/dtag.js'</script>", { inlineUrls: ['cdn.v.tv/b/dtag.js'] }],
  [
    'a tag that a script writes',
    String.raw`<script>document.write("<script src='//v.com/a.js'><\/script>")</script>`,
    { inlineUrls: ['v.com/a.js'] },
  ],
  [
    'a tag that a script holds',
    String.raw`<script>snippet = "<script src='//v.com/a.js'><\/script>"; rewrite (" src='//v.com/b.js'>")</script>`,
    { inlineUrls: [] },
  ],
  [
    'an escaped tag that a script writes',
    `<script>document.write(unescape("%3Cscript src='//v.com/a.js'%3E%3C/script%3E") + unescape("%3Cscript src='" + p + "b.w.com/c.js?d=1' type='text/javascript'%3E%3C/script%3E"))</script>`,
    { inlineUrls: ['v.com/a.js', 'b.w.com/c.js?d=1'] },
  ],
  ['an address in a line comment', '<script>// s.src="https://v.com/a.js"\n</script>', { inlineUrls: [] }],
  ['an address in a block comment', '<script>/* "https://v.com/a.js" */</script>', { inlineUrls: [] }],
  ['an address in an HTML comment of a script', '<script><!-- "https://v.com/a.js"\n</script>', { inlineUrls: [] }],
  [
    'an address after a pattern with quotes',
    `<script>x.replace(/["']\\/[/"]/g,"");s="//v.com/a.js"</script>`,
    { inlineUrls: ['v.com/a.js'] },
  ],
  ['an address after a division', '<script>a = b / c; s="//v.com/a.js"; d / e</script>', { inlineUrls: ['v.com/a.js'] }],
  ['an address after a template', '<script>a=`x${b?`"`:{c:1}}"`;s="//v.com/a.js"</script>', { inlineUrls: ['v.com/a.js'] }],
  ['a sentence with an address', '<script>d="Use https://v.com/a.js now"</script>', { inlineUrls: [] }],
  [
    'an address in JSON',
    '<script type="application/json">{"u":"https://v.com/a.js"}</script>',
    { inlineUrls: [], dataHosts: ['v.com'] },
  ],
  ['a name that is called', "<script>fbq( 'init', '1')</script>", { inlineNames: ["fbq('init"] }],
  ['a name of window that is called', `<script>window["fbq"]("init", '1')</script>`, { inlineNames: ["fbq('init"] }],
  ['a name that is used', "<script>if (window.fbq) fbq('track', 'x'); 'fbq(\"init\")'</script>", { inlineNames: [] }],
  [
    'a name that is assigned',
    '<script>var Shopify = {}; Shopify.shop = "x.myshopify.com";</script>',
    { inlineNames: ['Shopify.shop='] },
  ],
  ['a name that is compared', '<script>if (Shopify.shop == "x") {}</script>', { inlineNames: [] }],
  ['a name in a comment', '<script>// Shopify.shop = 1\n</script>', { inlineNames: [] }],
  [
    'an id of a tag',
    '<script>gtag("config","AW-1234567"); f(w,d,"script","dataLayer","GTM-AB12CD"); ga("require", "GTM-OPT123"); h({"GTM-OPT123": true})</script>',
    { inlineIds: ['AW-1234567', 'GTM-AB12CD'] },
  ],
  ['preconnect', '<link rel="preconnect" href="https://v.com">', { hints: ['v.com'], assets: [] }],
  ['pictures', '<img src="//i.v.com/a/b/c/d.png"><img data-src="//j.v.com/e.png">', { images: ['i.v.com/a/b', 'j.v.com/e.png'] }],
  [
    'two parts of a class whose first part is too short for a name',
    '<p class="oe_product-grid w-commerce-cart mt-4 w-full h-captcha"></p>',
    { classes: ['oe', 'oe_product', 'w', 'w-commerce', 'mt', 'h', 'h-captcha'] },
  ],
  [
    'names of elements, attributes and classes',
    '<v-box data-V-id=1 class="jdgm-x jdgm-y woo__z"></v-box>',
    { elements: ['v-box'], attributes: ['v-id'], classes: ['jdgm', 'woo'] },
  ],
  [
    'an app block that loads',
    '<!-- BEGIN app block: shopify://apps/a-b/blocks/c/d --><script src="/x.js"></script><!-- END app block -->',
    { appBlocks: ['a-b'], emptyAppBlocks: [] },
  ],
  [
    'an app block with nothing',
    '<!-- BEGIN app block: shopify://apps/a-b/blocks/c/d --><div></div><!-- END app block -->',
    { appBlocks: [], emptyAppBlocks: ['a-b'] },
  ],
  [
    'links by class',
    '<a href="/products/a?v=1"><a href="/collections/b"><a href="/cart"><a href="/blog"><a href="//help.v.com/x">',
    { links: { product: ['/products/a'], collection: ['/collections/b'], cart: ['/cart'] }, linkHosts: ['help.v.com'] },
  ],
  [
    'Shopify settings',
    '<script>Shopify.theme = {"name":"My","schema_name":"Dawn","theme_store_id":887,"role":"main"};</script>',
    {
      facts: {
        'shopify.theme.name': 'My',
        'shopify.theme.schema_name': 'Dawn',
        'shopify.theme.theme_store_id': '887',
        'shopify.theme.role': 'main',
      },
    },
  ],
  [
    'trackers of the analytics of Shopify',
    '<script>trekkie.load({"Facebook Pixel":{"pixelIds":["1"]},"TikTok Pixel":{"pixelId":""},"Google Gtag Pixel":{"conversionId":"AW-1"}})</script>',
    { webPixels: ['Facebook Pixel', 'Google Gtag Pixel'] },
  ],
  [
    'payments that a site says are connected',
    '<script>x = {"stripeConnected":true,"paypalConnected":false}</script>',
    { webPixels: ['setting:stripeConnected'] },
  ],
  [
    'web pixels',
    String.raw`<script>x({webPixelsConfigList: [{"apiClientId":2329312,"configuration":"{\"pixel_type\":\"facebook_pixel\"}"}]})</script>`,
    { webPixels: ['client:2329312', 'pixel_type:facebook_pixel'] },
  ],
  [
    'tags of Google in web pixels',
    String.raw`<script>x({webPixelsConfigList: [{"apiClientId":1780363,"configuration":"{\"config\":\"{\\\"google_tag_ids\\\":[\\\"G-AB12\\\",\\\"AW-34\\\"]}\"}"}]})</script>`,
    { webPixels: ['client:1780363', 'tag:G', 'tag:AW'] },
  ],
  [
    'ids of metas without a name',
    '<meta id="in-context-paypal-metadata" data-shop-id="1"><meta id="b" name="c" content="d">',
    { scriptIds: ['in-context-paypal-metadata'], metas: { c: 'd' } },
  ],
  ['the beginning of a template', '<script>s.src=`https://v.com/js/${id}/a.js`</script>', { inlineUrls: ['v.com/js/'] }],
  [
    'two generators',
    '<meta name="generator" content="A 1"><meta name="generator" content="B 2">',
    { metas: { generator: 'A 1\nB 2' } },
  ],
  ['metas', '<meta name="Generator" content="X 1"><meta name="description" content="about X">', { metas: { generator: 'X 1' } }],
])('%s', (_, html, expected) => {
  expect(read(html)).toMatchObject(expected);
});

test('of a response, allowed fields, names of cookies, and hosts of its policy as hints are kept', () => {
  const headers = {
    'powered-by': 'Shopify',
    'x-request-id': '123',
    'set-cookie': ['a=b'],
    'server-timing': 'theme;desc="1", country;desc="DE"',
    'content-security-policy': "default-src 'self'; script-src https://cdn.v.com *.w.com 'unsafe-inline'",
  };
  const { headers: kept, hints, cookies } = read('', headers);
  expect([kept, hints, cookies]).toEqual([
    { 'powered-by': 'Shopify', 'x-request-id': '', 'server-timing': 'theme,country' },
    ['cdn.v.com', 'w.com'],
    ['a_cookie'],
  ]);
});

const SCRIPTS = Array.from({ length: 400 }, (_, i) => `<script src="//v${i}.com/${'x'.repeat(300)}"></script>`).join('');

test.each([
  ['nothing', ''],
  ['10,000 open elements', '<div class=a>'.repeat(10_000)],
  ['a tag that never ends', `<script src="${'x'.repeat(100_000)}`],
  ['comments that never end', '<!--'.repeat(50_000)],
  ['block comments that never end', '<script>/*</script>'.repeat(20_000)],
  ['patterns that never end', `<script>${'=/['.repeat(100_000)}</script>`],
  ['settings without end', `<script>${'initData:{'.repeat(20_000)}</script>`],
  ['templates without end', `<script>${'`${'.repeat(50_000)}</script>`],
  ['10,000 attributes', `<a ${'data-x=1 '.repeat(10_000)}>`],
  ['classes without end', `<a class="${'a-b '.repeat(50_000)}">`],
  ['more scripts than are kept', SCRIPTS],
  [
    'names of the prototype',
    '<meta name="__proto__" content="x"><meta name="constructor" content="y"><x-__proto__ data-__proto__>',
  ],
  ['deep JSON-LD', `<script type="application/ld+json">${'['.repeat(20_000)}</script>`],
  ['NUL and lone surrogates', '<script src="//v.com/\u0000\uD800"></script>\uDC00'],
])('hostile markup gives bounded evidence of the declared shape: %s', (_, html) => {
  const evidence = read(html);
  expect(pageEvidence.safeParse(structuredClone(evidence)).error).toBeUndefined();
  expect(JSON.stringify(evidence).length).toBeLessThan(200_000);
});

const HTML_MAX_BYTES = 5 * 1_048_576;
test.each([
  ['a comment', '/*', '*a'],
  ['a string', "'", '"a'],
  ['a template', '`', '$a'],
  ['a pattern', '(/', '[a]'],
])('a script that is one long %s does not prevent reading the rest of the page', (_, opening, repeated) => {
  const filler = repeated.repeat(HTML_MAX_BYTES / repeated.length);
  expect(read(`<script>${opening}${filler}</script><script src="https://v.com/a.js"></script>`)).toMatchObject({
    scripts: ['v.com/a.js'],
  });
});

test('a full list is marked', () => {
  const { scripts, truncated } = read(SCRIPTS);
  expect([scripts.length, scripts[0]?.length, truncated]).toEqual([300, 200, ['scripts']]);
});

test('JSON-LD gives types, organisations, products and countries; broken blocks are counted', () => {
  const graph = [
    { '@type': 'OnlineStore', name: 'Shop', sameAs: ['https://x.com/shop'], address: { addressCountry: 'DE' } },
    { '@type': ['Product'], name: 'Hat', offers: [{ '@type': 'Offer', price: 12.5, priceCurrency: 'EUR', availability: 'https://schema.org/InStock', hasMerchantReturnPolicy: { '@type': 'MerchantReturnPolicy', returnPolicyCountry: 'AT' } }] }, // prettier-ignore
  ];
  const block = (json: string) => `<script type="application/ld+json">${json}</script>`;
  const { jsonLd } = read(block(JSON.stringify({ '@graph': graph })) + block('{broken'));
  expect(jsonLd).toMatchObject({
    types: ['OnlineStore', 'Product', 'Offer', 'MerchantReturnPolicy'],
    organizations: [{ name: 'Shop', addressCountry: 'DE', sameAs: ['https://x.com/shop'] }],
    products: [{ name: 'Hat', price: '12.5', currency: 'EUR', availability: 'https://schema.org/InStock' }],
    returnCountries: ['AT'],
    failed: 1,
  });
});
