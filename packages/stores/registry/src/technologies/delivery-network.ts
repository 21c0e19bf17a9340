import { service, type TechnologiesByCategory } from '../technology.ts';

const SHOPIFY_EDGE = ['shopify', 'bigcommerce', 'squarespace-commerce', 'wix-stores', 'webflow-ecommerce', 'square-online'];
const HOSTED = ['vtex', 'nuvemshop', 'shopline', 'shoplazza', 'salla', 'zid', 'haravan', 'lightspeed-ecom', 'big-cartel', 'cafe24', 'shoptet']; // prettier-ignore
const EDGE_OF_PLATFORM = [...SHOPIFY_EDGE, ...HOSTED];
/** The embedded network of Salesforce Commerce Cloud is Cloudflare's (its documentation of eCDN); any other network is the store's choice. */
const CLOUDFLARE_EDGE = [...EDGE_OF_PLATFORM, 'salesforce-commerce-cloud'];

/** Delivery of pages. Sources: the install pages of vendors, and the corpus. */
export const DELIVERY_NETWORK: TechnologiesByCategory = {
  'cdn-hosting': [
    service('cloudflare', 'Cloudflare', 'Cloudflare', 'https://www.cloudflare.com', {
      cookies: ['__cf_bm', 'cf_clearance', '__cflb', '_cfuvid'],
      paths: ['/cdn-cgi/'],
      loads: ['static.cloudflareinsights.com', 'ajax.cloudflare.com/cdn-cgi/'],
      headers: ['cf-ray', 'server:cloudflare'],
      suppliedBy: CLOUDFLARE_EDGE,
    }),
    service('fastly', 'Fastly', 'Fastly', 'https://www.fastly.com', {
      headers: ['x-fastly-request-id', '~x-served-by:cache-', 'fastly-restarts', 'fastly-io-info'],
      suppliedBy: EDGE_OF_PLATFORM,
    }),
    service('akamai', 'Akamai', 'Akamai', 'https://www.akamai.com', {
      cookies: ['akavpau_*', 'AKA_A2'],
      headers: [
        'x-akamai-transformed',
        'akamai-grn',
        'x-akamai-request-id',
        'server:akamaighost',
        'akamai-cache-status',
        'server-timing:*ak_p',
      ],
      suppliedBy: EDGE_OF_PLATFORM,
    }),
    service('cloudfront', 'Amazon CloudFront', 'Amazon', 'https://aws.amazon.com/cloudfront/', {
      statics: ['cloudfront.net'],
      headers: ['x-amz-cf-id', '~via:*cloudfront', '~x-cache:*cloudfront', 'x-amz-cf-pop'],
      suppliedBy: EDGE_OF_PLATFORM,
    }),
    service('vercel', 'Vercel', 'Vercel', 'https://vercel.com', {
      sites: ['vercel.app'],
      paths: ['/_vercel/'],
      headers: ['x-vercel-id', 'server:vercel', 'x-vercel-cache'],
    }),
    service('netlify', 'Netlify', 'Netlify', 'https://www.netlify.com', {
      paths: ['/.netlify/'],
      sites: ['netlify.app'],
      headers: ['x-nf-request-id', 'server:netlify'],
    }),
  ],
};
