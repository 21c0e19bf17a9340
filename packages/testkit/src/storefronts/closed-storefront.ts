/** The response of a storefront for a path. The default type is HTML. */
export interface FixtureResponse {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

type Shop = Readonly<Record<'name' | 'host' | 'movedTo', string>>;
type Behaviour = (path: string, shop: Shop) => FixtureResponse | undefined;

const page = (title: string, body: string, head = '') =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>${head}</head><body>${body}</body></html>\n`;

const challenged: FixtureResponse = {
  status: 403,
  headers: { server: 'cloudflare', 'cf-mitigated': 'challenge', 'cf-ray': '8a0b1c2d3e4f5a6b-FRA' },
  body: page(
    'Just a moment...',
    `<noscript>Enable JavaScript and cookies to continue</noscript><script>(function(){window._cf_chl_opt={cvId:'3',cType:'managed'};
var a=document.createElement('script');a.src='/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1';})();</script>`,
  ),
};

/** Responses by behaviour, instead of pages; undefined serves the path. First come shops that are not open, then bot defences, which serve no page
 *  at all, then failing servers. */
export const STOREFRONT_BEHAVIOURS = {
  open: () => undefined,
  password: (path, { name, host }) =>
    path === '/password'
      ? {
          headers: { 'powered-by': 'Shopify' },
          body: page(
            `${name} – Opening soon`,
            `<h1>Opening soon</h1><form method="post" action="/password"><input type="hidden" name="form_type" value="storefront_password">
<input type="password" name="password"><button>Enter</button></form>`,
            `<script>Shopify.shop = "${host.replaceAll('.', '-')}.myshopify.com";</script>`,
          ),
        }
      : { status: 302, headers: { location: '/password', 'powered-by': 'Shopify' }, body: '' },
  closed: () => ({
    status: 402,
    headers: { 'powered-by': 'Shopify' },
    body: page('This shop is unavailable', '<h1>This store is unavailable</h1>'),
  }),
  parked: () => ({
    body: page(
      'Domain for sale',
      '<h1>This domain is for sale</h1><p>Buy this domain today.</p>',
      '<script src="https://img1.wsimg.com/parking-lander/static/js/main.js"></script>',
    ),
  }),
  login: (path) =>
    path === '/account/login'
      ? {
          body: page(
            'Log in',
            '<h1>Customers only</h1><form method="post" action="/account/login"><input type="email" name="email"><input type="password" name="password"></form>',
          ),
        }
      : { status: 302, headers: { location: '/account/login?return_url=/' }, body: '' },
  'cloudflare-challenge': () => challenged,
  'akamai-denied': (path, { host }) => ({
    status: 403,
    headers: { server: 'AkamaiGHost' },
    body: `<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\nYou don't have permission to access "http&#58;&#47;&#47;${host}${path}" on this server.<P>\nReference&#32;&#35;18&#46;2d3e4f5a\n<P>https&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;18&#46;2d3e4f5a</P>\n</BODY>\n</HTML>\n`,
  }),
  'datadome-captcha': () => ({
    status: 403,
    headers: { 'x-datadome': 'protected', 'x-dd-b': '1' },
    body: page('shop', `<script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>`),
  }),
  'perimeterx-captcha': () => ({
    status: 403,
    body: page(
      'Access to this page has been denied',
      `<div id="px-captcha"></div><script>window._pxAppId = 'PXabcd1234';</script>`,
    ),
  }),
  'imperva-incident': () => ({
    body: `<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body><iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=23&xinfo=1-2">Request unsuccessful. Incapsula incident ID: 123000450</iframe></body></html>`,
  }),
  'aws-waf-challenge': () => ({ status: 202, headers: { 'x-amzn-waf-action': 'challenge' }, body: '' }),
  'vercel-challenge': () => ({
    status: 429,
    headers: { 'x-vercel-mitigated': 'challenge' },
    body: page('Vercel Security Checkpoint', '<p>We are verifying your browser</p>'),
  }),
  queue: (path) =>
    path === '/'
      ? { status: 302, headers: { location: '/queue?c=fixture&e=sale', server: 'queue-it' }, body: '' }
      : {
          body: page(
            'You are now in line',
            '<h1>You are now in line</h1><p>Virtual waiting room</p>',
            '<script src="https://static.queue-it.net/script/queueclient.min.js"></script>',
          ),
        },
  throttled: () => ({ status: 429, headers: { 'retry-after': '120' }, body: page('Too many requests', '<p>Slow down.</p>') }),
  unavailable: () => ({ status: 503, headers: { 'retry-after': '30' }, body: page('Maintenance', '<p>Back soon.</p>') }),
  'challenged-after-home': (path) => (path === '/' || path === '/robots.txt' ? undefined : challenged),
  'robots-denied': (path) => (path === '/robots.txt' ? { type: 'text/plain', body: 'User-agent: *\nDisallow: /\n' } : undefined),
  'robots-unavailable': (path) => (path === '/robots.txt' ? { status: 503, type: 'text/plain', body: '' } : undefined),
  empty: () => ({ body: '' }),
  'json-home': () => ({ type: 'application/json', body: '{"message":"This is an API"}' }),
  moved: (path, { movedTo }) => ({
    status: 301,
    headers: { location: new URL(path, movedTo).href },
    body: '',
  }),
} satisfies Readonly<Record<string, Behaviour>>;
export type StorefrontBehaviour = keyof typeof STOREFRONT_BEHAVIOURS;

/** The response of a storefront that does not serve this path now; undefined when it does. A storefront behind a bot defence or a password still
 *  serves robots.txt, unless its behaviour concerns robots.txt. */
export function respondInsteadOfPage(
  path: string,
  shop: Shop & { readonly behaviour: StorefrontBehaviour },
): FixtureResponse | undefined {
  const { behaviour } = shop;
  if (path === '/robots.txt' && !behaviour.startsWith('robots-') && behaviour !== 'moved') return undefined;
  return STOREFRONT_BEHAVIOURS[behaviour](path, shop);
}
