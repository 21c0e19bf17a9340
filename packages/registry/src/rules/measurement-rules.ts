import type { RulesBySlug } from './technology-rules.ts';

const SHOPIFY_EDGE = ['shopify', 'bigcommerce', 'squarespace-commerce', 'wix-stores', 'webflow-ecommerce', 'square-online'];
const HOSTED = ['vtex', 'nuvemshop', 'shopline', 'shoplazza', 'salla', 'zid', 'haravan', 'lightspeed-ecom', 'big-cartel', 'cafe24', 'shoptet']; // prettier-ignore
const EDGE_OF_PLATFORM = [...SHOPIFY_EDGE, ...HOSTED];
/** The embedded network of Salesforce Commerce Cloud is Cloudflare's (its documentation of eCDN); any other one is the store's choice. */
const CLOUDFLARE_EDGE = [...EDGE_OF_PLATFORM, 'salesforce-commerce-cloud'];

/** Measurement, consent, delivery of pages. Sources: store-intel anchors, section 3.3, the install pages of vendors, and the corpus. */
export const MEASUREMENT_RULES: RulesBySlug = {
  'google-analytics': {
    paths: ['~/plugins/google-analytics-for-wordpress/'],
    loads: [
      'googletagmanager.com ^/gtag/js\\?(?:[^#]*&)?id=(?:G|GT|UA)-',
      'google-analytics.com/analytics.js',
      'google-analytics.com/ga.js',
      'google-analytics.com/urchin.js',
      'stats.g.doubleclick.net/dc.js',
      'google-analytics.com/plugins/',
      'google-analytics.com/g/',
      'google-analytics.com/collect',
    ],
    inline: ["ga('create", 'GoogleAnalyticsObject=', '~id:G-', '~id:UA-', '_gaq=', '_gat._getTracker(', 'urchinTracker('],
    pixels: ['tag:G', 'tag:GT', 'Google Analytics'],
    literalsSince: 3,
  },
  heap: { loads: ['heapanalytics.com', 'cdn.us.heap-api.com', 'heap-api.com'], inline: ["heap.load('"] },
  mixpanel: { loads: ['cdn.mxpnl.com', 'mixpanel.com/libs', 'mxpnl.com'], inline: ["mixpanel.init('"] },
  amplitude: { loads: ['cdn.amplitude.com', 'cdn.eu.amplitude.com'], inline: ['amplitude.init(', 'amplitude.getInstance('] },
  'triple-whale': {
    loads: ['config-security.com', 'triplewhale-pixel.web.app', 'whale.camera'],
    inline: ['TriplePixelData='],
    apps: ['triplewhale', 'triplewhale-1'],
  },
  northbeam: { loads: ['northbeam.io'], inline: ['~Northbeam='] },
  elevar: {
    pixels: ['client:2509311'],
    apps: ['elevar-conversion-tracking'],
    markup: ['id:elevar-gtm-suite-config'],
    data: ['shopify-gtm-suite.getelevar.com'],
    inline: ['ElevarGtmSuite=', 'ElevarDataLayer=', '~ElevarInvalidateContext'],
    loads: ['shopify-gtm-suite.getelevar.com', 'getelevar.com'],
  },
  matomo: {
    loads: ['cdn.matomo.cloud', 'matomo.cloud'],
    inline: ['_paq=', '_mtm='],
    paths: ['~/matomo.js', '~/piwik.js'],
    literalsSince: 2,
  },
  plausible: { loads: ['plausible.io/js/'], inline: ['~plausible='] },
  'adobe-analytics': {
    loads: ['assets.adobedtm.com', 'omtrdc.net', '2o7.net', '~demdex.net'],
    inline: ['s_gi('],
    paths: ['~/AppMeasurement.js', '~/s_code.js', '~/satelliteLib-'],
  },
  'microsoft-clarity': {
    pixels: ['client:240074326017'],
    loads: ['clarity.ms'],
    inline: ["clarity('set", "clarity('consent"],
    apps: ['microsoft-clarity'],
  },
  hotjar: { loads: ['static.hotjar.com', 'script.hotjar.com', 'vars.hotjar.com'], inline: ['_hjSettings='] },
  fullstory: {
    loads: ['edge.fullstory.com', 'fullstory.com/s/fs.js', 'edge.eu1.fullstory.com'],
    inline: ['_fs_org=', '_fs_script='],
  },
  'lucky-orange': {
    loads: ['tools.luckyorange.com', 'luckyorange.net', 'd10lpsik1i8c69.cloudfront.net', 'tools.luckyorange.net'],
    inline: ['__lo_site_id=', 'LOQ=', '__wtw_lucky_site_id='],
    literalsSince: 3,
    apps: ['lucky-orange'],
  },
  mouseflow: { loads: ['cdn.mouseflow.com'], inline: ['_mfq='] },
  'google-tag-manager': {
    paths: ['/gtm.js?id=GTM-', '/ns.html?id=GTM-'],
    loads: ['googletagmanager.com/gtm.js', 'googletagmanager.com/ns.html', 'googletagmanager.com ^/gtag/js\\?(?:[^#]*&)?id=GTM-'],
    inline: ['~id:GTM-'],
  },
  tealium: { paths: ['~/utag.js', '~/utag.sync.js'], loads: ['tags.tiqcdn.com'], inline: ['utag_data=', '~utag_cfg_ovrd='] },
  segment: {
    loads: [
      'cdn.segment.com/analytics.js/',
      'cdn.segment.com/analytics-next/',
      'cdn.segment.io',
      'd2dq2ahtl5zl1z.cloudfront.net/analytics.js/',
    ],
    inline: ['~analytics._writeKey='],
  },
  rudderstack: { loads: ['cdn.rudderlabs.com', 'dataplane.rudderstack.com'], inline: ['rudderanalytics='] },
  vwo: {
    loads: ['dev.visualwebsiteoptimizer.com', 'd5phz18u4wuww.cloudfront.net'],
    inline: ['_vwo_code=', '~_vwo_code', '_vis_opt_account_id='],
  },
  optimizely: {
    inline: ['~optimizely='],
    loads: ['cdn.optimizely.com', 'cdn-pci.optimizely.com', 'optimizely.com/js/'],
    literalsSince: 2,
  },
  convert: { loads: ['convertexperiments.com'] },
  onetrust: {
    loads: [
      'cdn.cookielaw.org',
      'cookie-cdn.cookiepro.com',
      'optanon.blob.core.windows.net',
      'onetrust.com *scripttemplates/',
      'geolocation.onetrust.com',
      'onetrust.com *otSDKStub',
    ],
    inline: ['~OptanonWrapper('],
    cookies: ['~OptanonConsent'],
    markup: ['id:onetrust-script'],
  },
  cookiebot: {
    loads: ['consent.cookiebot.com', 'consentcdn.cookiebot.com', 'consent.cookiebot.eu', 'consentcdn.cookiebot.eu'],
    markup: ['id:Cookiebot'],
  },
  usercentrics: { loads: ['usercentrics.eu'], markup: ['id:usercentrics-cmp'] },
  osano: { loads: ['cmp.osano.com'] },
  consentmo: { apps: ['consentmo-gdpr', 'ext:consentmo-gdpr'], loads: ['gdprcdn.b-cdn.net', 'consentmo.com'] },
  pandectes: {
    apps: ['pandectes-gdpr'],
    loads: ['pandectes.io', 'cdn.shopify.com *pandectes-core', 'pandect.es'],
    inline: ['~PandectesSettings='],
  },
  cloudflare: {
    cookies: ['__cf_bm', 'cf_clearance', '__cflb', '_cfuvid'],
    paths: ['/cdn-cgi/'],
    loads: ['static.cloudflareinsights.com', 'ajax.cloudflare.com/cdn-cgi/'],
    headers: ['cf-ray', 'server:cloudflare'],
    suppliedBy: CLOUDFLARE_EDGE,
  },
  fastly: {
    headers: ['x-fastly-request-id', '~x-served-by:cache-', 'fastly-restarts', 'fastly-io-info'],
    suppliedBy: EDGE_OF_PLATFORM,
  },
  akamai: {
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
  },
  cloudfront: {
    statics: ['cloudfront.net'],
    headers: ['x-amz-cf-id', '~via:*cloudfront', '~x-cache:*cloudfront', 'x-amz-cf-pop'],
    suppliedBy: EDGE_OF_PLATFORM,
  },
  vercel: {
    sites: ['vercel.app'],
    paths: ['/_vercel/'],
    headers: ['x-vercel-id', 'server:vercel', 'x-vercel-cache'],
  },
  netlify: {
    paths: ['/.netlify/'],
    sites: ['netlify.app'],
    headers: ['x-nf-request-id', 'server:netlify'],
  },
  sentry: {
    metas: ['sentry-trace'],
    loads: ['sentry-cdn.com', 'sentry.io', 'cdn.ravenjs.com'],
    inline: ['Sentry.init(', 'Sentry.onLoad(', 'Raven.config('],
    literalsSince: 3,
  },
  'new-relic': {
    loads: ['js-agent.newrelic.com', 'bam.nr-data.net', 'nr-data.net'],
    inline: ['NREUM=', 'NREUM.info=', 'NREUM.loader_config='],
    literalsSince: 2,
  },
  'datadog-rum': { loads: ['datadoghq-browser-agent.com'], inline: ['DD_RUM.init(', 'DD_RUM.onReady('] },
};
