import type { SessionResponse } from '../fetch-session.ts';

interface Hint {
  readonly platform: string;
  /** Part of the value, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly texts?: readonly string[];
}

/** Decides which endpoints are requested. A wrong hint costs one request and has no other effect, because facts come from rules. */
const HINTS: readonly Hint[] = [
  {
    platform: 'shopify',
    headers: { 'powered-by': 'shopify', 'x-shopid': '', 'x-shopify-stage': '' },
    texts: ['/cdn/shop/', 'Shopify.shop', '.myshopify.com"'],
  },
  {
    platform: 'woocommerce',
    cookies: ['woocommerce_items_in_cart'],
    texts: ['/plugins/woocommerce/', 'wc_add_to_cart_params', 'content="WooCommerce'],
  },
  {
    platform: 'vtex',
    headers: { powered: 'vtex', server: 'vtex io' },
    cookies: ['VtexWorkspace', 'vtex_session'],
    texts: ['.vtexassets.com/'],
  },
  {
    platform: 'magento',
    headers: { 'x-magento-tags': '', 'x-magento-cache-debug': '' },
    cookies: ['X-Magento-Vary'],
    texts: ['text/x-magento-init', 'data-mage-init'],
  },
  { platform: 'bigcommerce', cookies: ['fornax_anonymousId'], texts: ['bigcommerce.com/s-', 'content="bigcommerce.'] },
  { platform: 'squarespace-commerce', texts: ['Static.SQUARESPACE_CONTEXT'] },
  { platform: 'wix-stores', headers: { 'x-wix-request-id': '' }, texts: ['1380b703-ce81-ff05-f115-39571d94dfcd'] },
  { platform: 'prestashop', headers: { 'powered-by': 'prestashop' }, texts: ['var prestashop =', 'content="PrestaShop'] },
  {
    platform: 'shopware',
    headers: { 'sw-context-token': '', 'sw-version-id': '' },
    texts: ['/bundles/storefront/'],
  },
  { platform: 'opencart', cookies: ['OCSESSID'], texts: ['catalog/view/javascript/', 'route=common/home'] },
  {
    platform: 'salesforce-commerce-cloud',
    headers: { 'x-dw-request-base-id': '' },
    cookies: ['dwsid'],
    texts: ['/on/demandware.'],
  },
  { platform: 'big-cartel', texts: ['content="Big Cartel"', 'assets.bigcartel.com'] },
  { platform: 'odoo', texts: ['o_wsale', 'oe_website_sale'] },
  { platform: 'nuvemshop', texts: ['LS.store', 'mitiendanube.com/stores/'] },
  { platform: 'ecwid', texts: ['app.ecwid.com/script.js'] },
];

/** Guesses the platform of a home page, to choose requests. */
export function platformHint({
  headers,
  cookieNames,
  text: html,
}: Pick<SessionResponse, 'headers' | 'cookieNames' | 'text'>): string | undefined {
  const isHinted = (hint: Hint) =>
    Object.entries(hint.headers ?? {}).some(([name, value]) => headers[name]?.toLowerCase().includes(value)) ||
    hint.cookies?.some((name) => cookieNames.includes(name)) === true ||
    hint.texts?.some((text) => html.includes(text)) === true;
  return HINTS.find(isHinted)?.platform;
}
