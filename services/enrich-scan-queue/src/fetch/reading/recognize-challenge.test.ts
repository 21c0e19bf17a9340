import { expect, test } from '@jest/globals';
import { recognizeChallenge } from './recognize-challenge.ts';
import { storefrontCondition } from './storefront-condition.ts';

const SHOP = `<html><title>Shoes</title>${'<p>Running shoes, 19.90 EUR</p>'.repeat(2_000)}`;
const response = (status: number, text: string, headers: Record<string, string> = {}, url = 'https://example.com/') => ({
  url,
  status,
  text,
  headers,
});
const page = (title: string, body: string) => `<html><head><title>${title}</title></head><body>${body}</body></html>`;

// Responses that each vendor documents or was seen to send.
test.each([
  ['Cloudflare, by its header, at any status', 'cloudflare', response(200, SHOP, { 'cf-mitigated': 'challenge' })],
  ['Cloudflare at 429, as before Shopify stores', 'cloudflare', response(429, '', { 'cf-mitigated': 'challenge' })],
  ['Cloudflare at 503', 'cloudflare', response(503, page('Just a moment...', '<script>window._cf_chl_opt={}</script>'))],
  [
    'Cloudflare, blocked',
    'cloudflare',
    response(403, page('Attention Required! | Cloudflare', '<div id="cf-error-details">Ray ID: 1</div>'), {
      server: 'cloudflare',
    }),
  ],
  [
    'Akamai',
    'akamai',
    response(403, page('Access Denied', 'Reference&#32;&#35;18&#46;2d https&#58;&#47;&#47;errors&#46;edgesuite&#46;net')),
  ],
  ['Akamai, interstitial', 'akamai', response(200, page('', '<div id="sec-if-cpt-container"></div>'))],
  [
    'DataDome',
    'datadome',
    response(403, "<script>var dd={'host':'geo.captcha-delivery.com'}</script>", { 'x-datadome': 'protected' }),
  ],
  ['PerimeterX', 'perimeterx', response(403, page('Access to this page has been denied', '<div id="px-captcha"></div>'))],
  [
    'Imperva at 200',
    'imperva',
    response(200, '<iframe id="main-iframe" src="/_Incapsula_Resource?x">Incapsula incident ID: 1</iframe>'),
  ],
  ['AWS WAF', 'aws-waf', response(202, '', { 'x-amzn-waf-action': 'challenge' })],
  ['AWS WAF, captcha', 'aws-waf', response(405, '', { 'x-amzn-waf-action': 'captcha' })],
  ['Vercel', 'vercel', response(429, page('Vercel Security Checkpoint', ''), { 'x-vercel-mitigated': 'challenge' })],
  ['Kasada', 'kasada', response(429, '', { 'x-kpsdk-ct': '1' })],
  ['Sucuri', 'sucuri', response(403, page('x', 'Sucuri Website Firewall - Access Denied'))],
  ['SiteGround at 202', 'siteground', response(202, '<meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r=/">')],
  ['Queue-it', 'queue-it', response(200, page('Queue', ''), {}, 'https://shop.queue-it.net/?c=shop')],
  ['a captcha of somebody at 200', 'captcha', response(200, page('Human verification', '<div class="g-recaptcha"></div>'))],
  ['a bare denial', 'unknown', response(403, page('Access denied', ''))],
])('%s is challenged', (_, vendor, examined) => {
  expect(recognizeChallenge(examined)).toEqual({ vendor, kind: 'challenged' });
});

test.each([
  ['429', response(429, 'slow down')],
  ['430 of Shopify', response(430, '')],
  ['the queue of Shopify', response(200, page('Queue', ''), {}, 'https://example.com/throttle/queue')],
])('%s is throttled', (_, examined) => {
  expect(recognizeChallenge(examined)?.kind).toBe('throttled');
});

test.each([
  ['a shop', response(200, SHOP)],
  [
    'a shop that loads the script of DataDome',
    response(200, `<script src="https://js.datadome.co/tags.js"></script>${SHOP}`, { 'x-datadome': 'protected' }),
  ],
  [
    'a shop that loads the script of Imperva',
    response(200, '<title>Shoes</title><script src="/_Incapsula_Resource?SWJIYLWA=1"></script>'),
  ],
  [
    'a shop behind Cloudflare',
    response(200, '<title>Shoes</title><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>', {
      server: 'cloudflare',
    }),
  ],
  ['a shop with a captcha in its form', response(200, '<title>Shoes</title><div class="g-recaptcha"></div>')],
  ['a shop that sells waiting room chairs', response(200, page('Waiting room chairs', 'queue barriers'))],
  ['a missing page', response(404, page('Not found', ''))],
  ['a forbidden page without a mark', response(403, page('Forbidden', ''))],
])('%s is not a challenge', (_, examined) => {
  expect(recognizeChallenge(examined)).toBeUndefined();
});

test.each([
  ['open', response(200, SHOP)],
  ['open', response(200, page('Domains', 'We sell hats.'))],
  ['open', response(200, `${SHOP}<p>This domain is for sale</p>`)],
  [
    'password',
    response(200, page('Opening soon', '<input type="hidden" value="storefront_password">'), {}, 'https://example.com/password'),
  ],
  ['password', response(401, '')],
  ['password', response(200, page('Log in', '<input type="password">'), {}, 'https://example.com/account/login?return=/')],
  ['open', response(200, page('Shop', '<a href="/account/login">Log in</a>'))],
  ['closed', response(402, page('x', ''))],
  ['closed', response(404, page('x', ''))],
  ['closed', response(410, '')],
  ['closed', response(200, page('x', 'This store is unavailable'))],
  ['parked', response(200, page('x', 'Buy this domain.'))],
  ['parked', response(200, '<script src="https://img1.wsimg.com/parking-lander/static/js/main.js"></script>')],
  ['parked', response(200, page('x', 'fine'), {}, 'https://www.hugedomains.com/domain_profile.cfm?d=example')],
])('%s', (condition, examined) => {
  expect(storefrontCondition(examined).condition).toBe(condition);
});
