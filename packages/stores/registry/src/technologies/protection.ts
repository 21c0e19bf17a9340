import { service, type TechnologiesByCategory } from '../technology.ts';

/** Sources: the install pages of vendors, and the corpus. */
export const PROTECTION: TechnologiesByCategory = {
  fraud: [
    service('signifyd', 'Signifyd', 'Signifyd', 'https://www.signifyd.com', {
      loads: ['cdn-scripts.signifyd.com', 'imgs.signifyd.com'],
      markup: ['id:sig-api'],
    }),
    service('riskified', 'Riskified', 'Riskified', 'https://www.riskified.com', {
      inline: ['RISKX.go('],
      loads: ['beacon.riskified.com'],
    }),
    service('forter', 'Forter', 'Forter', 'https://www.forter.com', {
      inline: ['ftr__startScriptLoad='],
      loads: ['forter.com'],
      cookies: ['forterToken'],
    }),
  ],
  'bot-protection': [
    service('recaptcha', 'reCAPTCHA', 'Google', 'https://cloud.google.com/security/products/recaptcha', {
      settings: ['wpcf7_recaptcha='],
      markup: ['class:g-recaptcha'],
      loads: ['google.com/recaptcha/', 'recaptcha.net/recaptcha/', 'gstatic.com/recaptcha/'],
      inline: ['grecaptcha.render(', 'grecaptcha.execute('],
    }),
    service('hcaptcha', 'hCaptcha', 'Intuition Machines', 'https://www.hcaptcha.com', {
      markup: ['class:h-captcha'],
      loads: ['js.hcaptcha.com', 'hcaptcha.com/1/'],
    }),
    service(
      'turnstile',
      'Cloudflare Turnstile',
      'Cloudflare',
      'https://www.cloudflare.com/application-services/products/turnstile/',
      { markup: ['class:cf-turnstile'], loads: ['challenges.cloudflare.com/turnstile/'] },
    ),
    service('datadome', 'DataDome', 'DataDome', 'https://datadome.co', {
      headers: ['x-datadome', 'x-datadome-cid', 'x-dd-b'],
      loads: ['js.datadome.co', 'ct.datadome.co', 'captcha-delivery.com'],
      cookies: ['datadome'],
      inline: ['ddjskey='],
    }),
    service('perimeterx', 'HUMAN (PerimeterX)', 'HUMAN', 'https://www.humansecurity.com', {
      loads: ['client.px-cloud.net', 'client.perimeterx.net', 'px-cloud.net', 'px-cdn.net', 'px-client.net'],
      inline: ['_pxAppId='],
      cookies: ['_px3', '_px2', '_pxhd', '_pxvid', '_pxde'],
    }),
    service('akamai-bot-manager', 'Akamai Bot Manager', 'Akamai', 'https://www.akamai.com/products/bot-manager', {
      cookies: ['ak_bmsc', 'bm_sz', '_abck', 'bm_sv', 'bm_mi', 'bm_so', 'bm_s', 'bm_ss'],
    }),
    service('imperva', 'Imperva', 'Thales', 'https://www.imperva.com', {
      headers: ['x-iinfo', 'x-cdn:imperva', 'x-cdn:incapsula'],
      cookies: ['visid_incap_*', 'incap_ses_*', 'nlbi_*', 'reese84', '___utmvc'],
      paths: ['/_Incapsula_Resource'],
      inline: ['~_analytics_scr='],
    }),
  ],
};
