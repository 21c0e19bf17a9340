import type { StorefrontCondition } from '@vitrine/stores/observation/observation-facts';
import type { ExaminedResponse } from './recognize-challenge.ts';

/** Longer pages are never those of closed or parked sites, regardless of their words. */
const MAX_NOTICE_CHARS = 48 * 1024;
/** Statuses that platforms return for removed or unpaid shops. */
const CLOSED_STATUSES = new Set([402, 404, 410, 423]);
const CLOSED_NOTICES = [
  'this store is unavailable',
  'this shop is unavailable',
  'this shop is currently unavailable',
  'this store is currently unavailable',
  'store is temporarily closed',
  'this store is closed',
  'website expired',
  'this account has been suspended',
  'error connectyourdomain',
];
const PASSWORD_MARKS = [
  'storefront_password',
  'action="/password"',
  'woocommerce-coming-soon',
  'sqs-password-page',
  'password-page__',
];
const PARKING_HOSTS = [
  'parking-lander',
  'sedoparking.com',
  'parkingcrew.net',
  'bodis.com',
  'parklogic.com',
  'afternic.com/forsale',
  'dan.com/buy-domain',
  'hugedomains.com',
  'above.com/marketplace',
  'domainmarket.com',
  'cashparking',
];
const PARKING_SITES =
  /(?:^|\.)(?:hugedomains\.com|dan\.com|afternic\.com|sedo\.com|sedoparking\.com|bodis\.com|domainmarket\.com|uniregistry\.com)$/;
const PARKING_TEXT =
  /(?:this )?domain (?:name )?(?:is|may be) for sale|buy this domain|domain has expired|this domain is parked|parked free/;
const LOGIN_PATH = /\/(?:log-?in|sign-?in|customer\/account\/login|account\/login)(?:[/.?]|$)/;

export interface Condition {
  readonly condition: StorefrontCondition;
  /** For the coverage note: null when the storefront is open. */
  readonly note: string | null;
}

/** Whether a home page request ended at an open storefront. A closed, password or parked page is only an observation of that status. A login in
 *  front of the whole shop counts as a password. Spec: S8.15. */
export function storefrontCondition({ url, status, text }: ExaminedResponse): Condition {
  const { hostname, pathname } = new URL(url);
  const isNotice = text.length <= MAX_NOTICE_CHARS;
  const searched = isNotice ? text.toLowerCase() : '';
  const has = (texts: readonly string[]) => texts.some((one) => searched.includes(one));
  if (PARKING_SITES.test(hostname) || has(PARKING_HOSTS) || PARKING_TEXT.test(searched))
    return { condition: 'parked', note: 'The domain is parked; there is no storefront.' };
  if (status === 401 || (isNotice && pathname === '/password') || has(PASSWORD_MARKS))
    return { condition: 'password', note: 'The storefront asks for a password.' };
  if (CLOSED_STATUSES.has(status) || has(CLOSED_NOTICES))
    return { condition: 'closed', note: `The storefront is closed (status ${status}).` };
  if (LOGIN_PATH.test(pathname) && /type=["']?password/.test(text))
    return { condition: 'password', note: 'The storefront is for customers who log in.' };
  return { condition: 'open', note: null };
}
