import { app, service, type TechnologiesByCategory } from '../technology.ts';

/** Measurement, consent to it, and what delivers and monitors pages. */
export const MEASUREMENT: TechnologiesByCategory = {
  analytics: [
    service('google-analytics', 'Google Analytics', 'Google', 'https://marketingplatform.google.com/about/analytics/'),
    service('heap', 'Heap', 'Contentsquare', 'https://www.heap.io'),
    service('mixpanel', 'Mixpanel', 'Mixpanel', 'https://mixpanel.com'),
    service('amplitude', 'Amplitude', 'Amplitude', 'https://amplitude.com'),
    app('triple-whale', 'Triple Whale', 'Triple Whale', 'https://www.triplewhale.com'),
    app('northbeam', 'Northbeam', 'Northbeam', 'https://www.northbeam.io'),
    app('elevar', 'Elevar', 'Elevar', 'https://getelevar.com'),
    service('matomo', 'Matomo', 'InnoCraft', 'https://matomo.org'),
    service('plausible', 'Plausible Analytics', 'Plausible', 'https://plausible.io'),
    service('adobe-analytics', 'Adobe Analytics', 'Adobe', 'https://business.adobe.com/products/adobe-analytics.html'),
  ],
  'session-replay': [
    service('microsoft-clarity', 'Microsoft Clarity', 'Microsoft', 'https://clarity.microsoft.com'),
    service('hotjar', 'Hotjar', 'Contentsquare', 'https://www.hotjar.com'),
    service('fullstory', 'Fullstory', 'Fullstory', 'https://www.fullstory.com'),
    app('lucky-orange', 'Lucky Orange', 'Lucky Orange', 'https://www.luckyorange.com'),
    service('mouseflow', 'Mouseflow', 'Mouseflow', 'https://mouseflow.com'),
  ],
  'tag-manager': [
    service('google-tag-manager', 'Google Tag Manager', 'Google', 'https://marketingplatform.google.com/about/tag-manager/'),
    service('tealium', 'Tealium', 'Tealium', 'https://tealium.com'),
  ],
  cdp: [
    service('segment', 'Segment', 'Twilio', 'https://segment.com'),
    service('rudderstack', 'RudderStack', 'RudderStack', 'https://www.rudderstack.com'),
  ],
  'ab-testing': [
    service('vwo', 'VWO', 'Wingify', 'https://vwo.com'),
    service('optimizely', 'Optimizely', 'Optimizely', 'https://www.optimizely.com'),
    service('convert', 'Convert', 'Convert Insights', 'https://www.convert.com'),
  ],
  consent: [
    service('onetrust', 'OneTrust', 'OneTrust', 'https://www.onetrust.com'),
    service('cookiebot', 'Cookiebot', 'Usercentrics', 'https://www.cookiebot.com'),
    service('usercentrics', 'Usercentrics', 'Usercentrics', 'https://usercentrics.com'),
    service('osano', 'Osano', 'Osano', 'https://www.osano.com'),
    app('consentmo', 'Consentmo', 'Consentmo', 'https://www.consentmo.com'),
    app('pandectes', 'Pandectes', 'Pandectes', 'https://pandectes.io'),
  ],
  'cdn-hosting': [
    service('cloudflare', 'Cloudflare', 'Cloudflare', 'https://www.cloudflare.com'),
    service('fastly', 'Fastly', 'Fastly', 'https://www.fastly.com'),
    service('akamai', 'Akamai', 'Akamai', 'https://www.akamai.com'),
    service('cloudfront', 'Amazon CloudFront', 'Amazon', 'https://aws.amazon.com/cloudfront/'),
    service('vercel', 'Vercel', 'Vercel', 'https://vercel.com'),
    service('netlify', 'Netlify', 'Netlify', 'https://www.netlify.com'),
  ],
  monitoring: [
    service('sentry', 'Sentry', 'Sentry', 'https://sentry.io'),
    service('new-relic', 'New Relic', 'New Relic', 'https://newrelic.com'),
    service('datadog-rum', 'Datadog RUM', 'Datadog', 'https://www.datadoghq.com'),
  ],
};
