import { app, service, type TechnologiesByCategory } from '../technology.ts';

/** Sources: the install pages of vendors, and the corpus. */
export const ADVERTISING: TechnologiesByCategory = {
  affiliate: [
    service('awin', 'Awin', 'Awin', 'https://www.awin.com', { loads: ['dwin1.com', 'dwin2.com'], inline: ['AWIN.Tracking'] }),
    service('impact', 'impact.com', 'impact.com', 'https://impact.com', {
      loads: ['utt.impactcdn.com', 'impactradius-event.com', 'impactradius-tag.com', 'd3cxv97fi8q177.cloudfront.net'],
      inline: ["ire('trackConversion", "ire('identify"],
    }),
    service('rakuten', 'Rakuten Advertising', 'Rakuten', 'https://rakutenadvertising.com', {
      inline: ['rakutenDataLayer='],
      refers: ['track.linksynergy.com'],
      loads: ['tag.rmp.rakuten.com', 'intljs.rmtag.com'],
    }),
    app('refersion', 'Refersion', 'Refersion', 'https://www.refersion.com', {
      loads: ['refersion.com'],
      inline: ['~_refersion('],
    }),
  ],
  'ad-pixel': [
    service('meta-pixel', 'Meta Pixel', 'Meta', 'https://www.facebook.com/business/tools/meta-pixel', {
      paths: ['~/plugins/facebook-for-woocommerce/'],
      loads: ['connect.facebook.net *fbevents.js', 'connect.facebook.net *fbds.js', 'connect.facebook.net/signals/'],
      inline: ["fbq('init", '_fbq.push('],
      refers: ['facebook.com/tr'],
      pixels: ['pixel_type:facebook_pixel', 'client:2329312', 'Facebook Pixel'],
    }),
    service('tiktok-pixel', 'TikTok Pixel', 'TikTok', 'https://ads.tiktok.com', {
      loads: ['analytics.tiktok.com/i18n/pixel/'],
      inline: ["ttq.load('", '~TiktokAnalyticsObject='],
      pixels: ['client:4383523', 'TikTok Pixel'],
    }),
    service('pinterest-tag', 'Pinterest Tag', 'Pinterest', 'https://business.pinterest.com', {
      pixels: ['client:3009811', 'Pinterest', 'Pinterest Pixel'],
      paths: ['~/plugins/pinterest-for-woocommerce/'],
      loads: ['s.pinimg.com/ct/', 'ct.pinterest.com'],
      inline: ["pintrk('load"],
      refers: ['ct.pinterest.com'],
      metas: ['+p:domain_verify'],
    }),
    service('snap-pixel', 'Snap Pixel', 'Snap', 'https://forbusiness.snapchat.com', {
      pixels: ['client:2556259', 'Snapchat Pixel'],
      refers: ['tr.snapchat.com'],
      loads: ['sc-static.net/scevent.min.js', 'intg.snapchat.com', 'tr.snapchat.com'],
      inline: ["snaptr('init"],
    }),
    service('microsoft-ads', 'Microsoft Advertising', 'Microsoft', 'https://about.ads.microsoft.com', {
      loads: ['bat.bing.com', 'bingshoppingtool-t2app-prod.trafficmanager.net/uet/'],
      inline: ['UET('],
      refers: ['bat.bing.com'],
    }),
    service('criteo', 'Criteo', 'Criteo', 'https://www.criteo.com', {
      loads: [
        'static.criteo.net',
        'dynamic.criteo.com',
        'sslwidget.criteo.com',
        'gum.criteo.com',
        'widget.criteo.com',
        'dis.us.criteo.com',
        'dis.eu.criteo.com',
      ],
      inline: ['criteo_q=', 'Criteo.events.push('],
    }),
    service('adroll', 'AdRoll', 'NextRoll', 'https://www.adroll.com', {
      loads: ['s.adroll.com', 'adroll.com *.js'],
      inline: ['adroll_adv_id='],
    }),
    service('x-ads', 'X Ads', 'X', 'https://business.x.com', {
      loads: ['static.ads-twitter.com', 'platform.twitter.com/oct.js'],
      inline: ["twq('init", "twq('config"],
      refers: ['analytics.twitter.com', 't.co/i/adsct'],
    }),
    service('linkedin-insight', 'LinkedIn Insight Tag', 'LinkedIn', 'https://business.linkedin.com/marketing-solutions', {
      loads: ['snap.licdn.com'],
      inline: ['_linkedin_partner_id='],
      refers: ['px.ads.linkedin.com'],
    }),
    service('reddit-pixel', 'Reddit Pixel', 'Reddit', 'https://www.business.reddit.com', {
      loads: ['redditstatic.com/ads/'],
      inline: ["rdt('init"],
    }),
    service('google-ads', 'Google Ads', 'Google', 'https://ads.google.com', {
      loads: [
        'googleadservices.com/pagead/conversion',
        'googleads.g.doubleclick.net/pagead/',
        'googletagmanager.com ^/gtag/js\\?(?:[^#]*&)?id=AW-',
        '~td.doubleclick.net/td/rul/',
      ],
      inline: ['id:AW-', 'google_conversion_id=', 'google_trackConversion('],
      refers: ['googleads.g.doubleclick.net', 'googleadservices.com', 'google.com/pagead/'],
      pixels: ['tag:AW', 'Google Gtag Pixel'],
    }),
  ],
};
