import { app, service, type TechnologiesByCategory } from '../technology.ts';

/** Measurement and consent to it. Sources: the install pages of vendors, and the corpus. */
export const MEASUREMENT: TechnologiesByCategory = {
  analytics: [
    service('google-analytics', 'Google Analytics', 'Google', 'https://marketingplatform.google.com/about/analytics/', {
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
    }),
    service('heap', 'Heap', 'Contentsquare', 'https://www.heap.io', {
      loads: ['heapanalytics.com', 'cdn.us.heap-api.com', 'heap-api.com'],
      inline: ["heap.load('"],
    }),
    service('mixpanel', 'Mixpanel', 'Mixpanel', 'https://mixpanel.com', {
      loads: ['cdn.mxpnl.com', 'mixpanel.com/libs', 'mxpnl.com'],
      inline: ["mixpanel.init('"],
    }),
    service('amplitude', 'Amplitude', 'Amplitude', 'https://amplitude.com', {
      loads: ['cdn.amplitude.com', 'cdn.eu.amplitude.com'],
      inline: ['amplitude.init(', 'amplitude.getInstance('],
    }),
    app('triple-whale', 'Triple Whale', 'Triple Whale', 'https://www.triplewhale.com', {
      loads: ['config-security.com', 'triplewhale-pixel.web.app', 'whale.camera'],
      inline: ['TriplePixelData='],
      apps: ['triplewhale', 'triplewhale-1'],
    }),
    app('northbeam', 'Northbeam', 'Northbeam', 'https://www.northbeam.io', { loads: ['northbeam.io'], inline: ['~Northbeam='] }),
    app('elevar', 'Elevar', 'Elevar', 'https://getelevar.com', {
      pixels: ['client:2509311'],
      apps: ['elevar-conversion-tracking'],
      markup: ['id:elevar-gtm-suite-config'],
      data: ['shopify-gtm-suite.getelevar.com'],
      inline: ['ElevarGtmSuite=', 'ElevarDataLayer=', '~ElevarInvalidateContext'],
      loads: ['shopify-gtm-suite.getelevar.com', 'getelevar.com'],
    }),
    service('matomo', 'Matomo', 'InnoCraft', 'https://matomo.org', {
      loads: ['cdn.matomo.cloud', 'matomo.cloud'],
      inline: ['_paq=', '_mtm='],
      paths: ['~/matomo.js', '~/piwik.js'],
    }),
    service('plausible', 'Plausible Analytics', 'Plausible', 'https://plausible.io', {
      loads: ['plausible.io/js/'],
      inline: ['~plausible='],
    }),
    service('adobe-analytics', 'Adobe Analytics', 'Adobe', 'https://business.adobe.com/products/adobe-analytics.html', {
      loads: ['assets.adobedtm.com', 'omtrdc.net', '2o7.net', '~demdex.net'],
      inline: ['s_gi('],
      paths: ['~/AppMeasurement.js', '~/s_code.js', '~/satelliteLib-'],
    }),
  ],
  'session-replay': [
    service('microsoft-clarity', 'Microsoft Clarity', 'Microsoft', 'https://clarity.microsoft.com', {
      pixels: ['client:240074326017'],
      loads: ['clarity.ms'],
      inline: ["clarity('set", "clarity('consent"],
      apps: ['microsoft-clarity'],
    }),
    service('hotjar', 'Hotjar', 'Contentsquare', 'https://www.hotjar.com', {
      loads: ['static.hotjar.com', 'script.hotjar.com', 'vars.hotjar.com'],
      inline: ['_hjSettings='],
    }),
    service('fullstory', 'Fullstory', 'Fullstory', 'https://www.fullstory.com', {
      loads: ['edge.fullstory.com', 'fullstory.com/s/fs.js', 'edge.eu1.fullstory.com'],
      inline: ['_fs_org=', '_fs_script='],
    }),
    app('lucky-orange', 'Lucky Orange', 'Lucky Orange', 'https://www.luckyorange.com', {
      loads: ['tools.luckyorange.com', 'luckyorange.net', 'd10lpsik1i8c69.cloudfront.net', 'tools.luckyorange.net'],
      inline: ['__lo_site_id=', 'LOQ=', '__wtw_lucky_site_id='],
      apps: ['lucky-orange'],
    }),
    service('mouseflow', 'Mouseflow', 'Mouseflow', 'https://mouseflow.com', { loads: ['cdn.mouseflow.com'], inline: ['_mfq='] }),
  ],
  'tag-manager': [
    service('google-tag-manager', 'Google Tag Manager', 'Google', 'https://marketingplatform.google.com/about/tag-manager/', {
      paths: ['/gtm.js?id=GTM-', '/ns.html?id=GTM-'],
      loads: [
        'googletagmanager.com/gtm.js',
        'googletagmanager.com/ns.html',
        'googletagmanager.com ^/gtag/js\\?(?:[^#]*&)?id=GTM-',
      ],
      inline: ['~id:GTM-'],
    }),
    service('tealium', 'Tealium', 'Tealium', 'https://tealium.com', {
      paths: ['~/utag.js', '~/utag.sync.js'],
      loads: ['tags.tiqcdn.com'],
      inline: ['utag_data=', '~utag_cfg_ovrd='],
    }),
  ],
  cdp: [
    service('segment', 'Segment', 'Twilio', 'https://segment.com', {
      loads: [
        'cdn.segment.com/analytics.js/',
        'cdn.segment.com/analytics-next/',
        'cdn.segment.io',
        'd2dq2ahtl5zl1z.cloudfront.net/analytics.js/',
      ],
      inline: ['~analytics._writeKey='],
    }),
    service('rudderstack', 'RudderStack', 'RudderStack', 'https://www.rudderstack.com', {
      loads: ['cdn.rudderlabs.com', 'dataplane.rudderstack.com'],
      inline: ['rudderanalytics='],
    }),
  ],
  'ab-testing': [
    service('vwo', 'VWO', 'Wingify', 'https://vwo.com', {
      loads: ['dev.visualwebsiteoptimizer.com', 'd5phz18u4wuww.cloudfront.net'],
      inline: ['_vwo_code=', '~_vwo_code', '_vis_opt_account_id='],
    }),
    service('optimizely', 'Optimizely', 'Optimizely', 'https://www.optimizely.com', {
      inline: ['~optimizely='],
      loads: ['cdn.optimizely.com', 'cdn-pci.optimizely.com', 'optimizely.com/js/'],
    }),
    service('convert', 'Convert', 'Convert Insights', 'https://www.convert.com', { loads: ['convertexperiments.com'] }),
  ],
  consent: [
    service('onetrust', 'OneTrust', 'OneTrust', 'https://www.onetrust.com', {
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
    }),
    service('cookiebot', 'Cookiebot', 'Usercentrics', 'https://www.cookiebot.com', {
      loads: ['consent.cookiebot.com', 'consentcdn.cookiebot.com', 'consent.cookiebot.eu', 'consentcdn.cookiebot.eu'],
      markup: ['id:Cookiebot'],
    }),
    service('usercentrics', 'Usercentrics', 'Usercentrics', 'https://usercentrics.com', {
      loads: ['usercentrics.eu'],
      markup: ['id:usercentrics-cmp'],
    }),
    service('osano', 'Osano', 'Osano', 'https://www.osano.com', { loads: ['cmp.osano.com'] }),
    app('consentmo', 'Consentmo', 'Consentmo', 'https://www.consentmo.com', {
      apps: ['consentmo-gdpr', 'ext:consentmo-gdpr'],
      loads: ['gdprcdn.b-cdn.net', 'consentmo.com'],
    }),
    app('pandectes', 'Pandectes', 'Pandectes', 'https://pandectes.io', {
      apps: ['pandectes-gdpr'],
      loads: ['pandectes.io', 'cdn.shopify.com *pandectes-core', 'pandect.es'],
      inline: ['~PandectesSettings='],
    }),
  ],
  monitoring: [
    service('sentry', 'Sentry', 'Sentry', 'https://sentry.io', {
      metas: ['sentry-trace'],
      loads: ['sentry-cdn.com', 'sentry.io', 'cdn.ravenjs.com'],
      inline: ['Sentry.init(', 'Sentry.onLoad(', 'Raven.config('],
    }),
    service('new-relic', 'New Relic', 'New Relic', 'https://newrelic.com', {
      loads: ['js-agent.newrelic.com', 'bam.nr-data.net', 'nr-data.net'],
      inline: ['NREUM=', 'NREUM.info=', 'NREUM.loader_config='],
    }),
    service('datadog-rum', 'Datadog RUM', 'Datadog', 'https://www.datadoghq.com', {
      loads: ['datadoghq-browser-agent.com'],
      inline: ['DD_RUM.init(', 'DD_RUM.onReady('],
    }),
  ],
};
