import { app, service, type TechnologiesByCategory } from '../technology.ts';

/** Payment, delivery and what guards them. */
export const CHECKOUT: TechnologiesByCategory = {
  bnpl: [
    service('afterpay', 'Afterpay', 'Block', 'https://www.afterpay.com'),
    service('klarna', 'Klarna', 'Klarna', 'https://www.klarna.com'),
    service('affirm', 'Affirm', 'Affirm', 'https://www.affirm.com'),
    service('sezzle', 'Sezzle', 'Sezzle', 'https://sezzle.com'),
    service('zip', 'Zip', 'Zip', 'https://zip.co'),
  ],
  payments: [
    service('stripe', 'Stripe', 'Stripe', 'https://stripe.com'),
    service('paypal', 'PayPal', 'PayPal', 'https://www.paypal.com'),
    service('shop-pay', 'Shop Pay', 'Shopify', 'https://www.shopify.com/shop-pay'),
    service('amazon-pay', 'Amazon Pay', 'Amazon', 'https://pay.amazon.com'),
    service('braintree', 'Braintree', 'PayPal', 'https://www.braintreepayments.com'),
    service('apple-pay', 'Apple Pay', 'Apple', 'https://www.apple.com/apple-pay/'),
    service('google-pay', 'Google Pay', 'Google', 'https://pay.google.com'),
  ],
  'shipping-returns': [
    app('route', 'Route', 'Route', 'https://route.com'),
    app('returngo', 'ReturnGO', 'ReturnGO', 'https://returngo.ai'),
    app('malomo', 'Malomo', 'Malomo', 'https://gomalomo.com'),
    app('loop-returns', 'Loop Returns', 'Loop', 'https://www.loopreturns.com'),
    service('narvar', 'Narvar', 'Narvar', 'https://corp.narvar.com'),
  ],
  fraud: [
    service('signifyd', 'Signifyd', 'Signifyd', 'https://www.signifyd.com'),
    service('riskified', 'Riskified', 'Riskified', 'https://www.riskified.com'),
    service('forter', 'Forter', 'Forter', 'https://www.forter.com'),
  ],
  'bot-protection': [
    service('recaptcha', 'reCAPTCHA', 'Google', 'https://cloud.google.com/security/products/recaptcha'),
    service('hcaptcha', 'hCaptcha', 'Intuition Machines', 'https://www.hcaptcha.com'),
    service(
      'turnstile',
      'Cloudflare Turnstile',
      'Cloudflare',
      'https://www.cloudflare.com/application-services/products/turnstile/',
    ),
    service('datadome', 'DataDome', 'DataDome', 'https://datadome.co'),
    service('perimeterx', 'HUMAN (PerimeterX)', 'HUMAN', 'https://www.humansecurity.com'),
    service('akamai-bot-manager', 'Akamai Bot Manager', 'Akamai', 'https://www.akamai.com/products/bot-manager'),
    service('imperva', 'Imperva', 'Thales', 'https://www.imperva.com'),
  ],
};
