import { app, service, type TechnologiesByCategory } from '../technology.ts';

/** Payment and delivery. Sources: the install pages of vendors, and the corpus. */
export const CHECKOUT: TechnologiesByCategory = {
  bnpl: [
    service('afterpay', 'Afterpay', 'Block', 'https://www.afterpay.com', {
      settings: ['afterpay_express_js_config='],
      inline: ['AfterPay.initialize(', 'Afterpay.initialize('],
      loads: [
        'js.squarecdn.com/square-marketplace.js',
        'js.afterpay.com',
        'static.afterpay.com',
        'portal.afterpay.com',
        'js.clearpay.co.uk',
        'static-us.afterpay.com',
        'afterpay.com *.js',
        'secure-afterpay.com.au *.js',
        'clearpay.co.uk *.js',
        'clearpay.com *.js',
      ],
      elements: ['square-placement', 'afterpay-placement'],
    }),
    service('klarna', 'Klarna', 'Klarna', 'https://www.klarna.com', {
      paths: ['~/plugins/klarna-'],
      inline: ['KlarnaOnsiteService=', 'Klarna.Payments.init(', 'klarnaAsyncCallback='],
      loads: ['js.klarna.com', 'klarnaservices.com', 'x.klarnacdn.net', 'cdn.klarna.com/1.0/code/'],
      elements: ['klarna-placement'],
    }),
    service('affirm', 'Affirm', 'Affirm', 'https://www.affirm.com', {
      loads: ['affirm.com/js/'],
      inline: ['_affirm_config='],
      markup: ['class:affirm'],
    }),
    service('sezzle', 'Sezzle', 'Sezzle', 'https://sezzle.com', {
      inline: ['sezzleConfig=', 'AwesomeSezzle('],
      loads: ['widget.sezzle.com', 'checkout-sdk.sezzle.com'],
    }),
    service('zip', 'Zip', 'Zip', 'https://zip.co', {
      loads: ['static.zip.co', 'static.zipmoney.com.au', 'cdn.us.zip.co', 'quadpay.com'],
      elements: ['quadpay-widget-v3', 'quadpay-widget', 'zip-payment-widget'],
      markup: ['data:zm-merchant'],
    }),
  ],
  payments: [
    service('stripe', 'Stripe', 'Stripe', 'https://stripe.com', {
      settings: ['"stripe_publishable_key'],
      pixels: ['~setting:stripeConnected'],
      paths: ['/plugins/woocommerce-gateway-stripe/'],
      loads: ['js.stripe.com', 'checkout.stripe.com', 'm.stripe.network'],
      inline: ["Stripe('pk_", 'wc_stripe_params=', 'wc_stripe_upe_params='],
      cookies: ['~__stripe_mid'],
    }),
    service('paypal', 'PayPal', 'PayPal', 'https://www.paypal.com', {
      settings: ['"paypal_merchant_id', 'ps_checkoutPayPalSdkConfig='],
      pixels: ['~setting:paypalConnected'],
      markup: ['id:in-context-paypal-metadata', 'data:swag-paypal-express-button'],
      paths: ['/plugins/woocommerce-paypal-payments/'],
      loads: ['paypal.com/sdk/js', 'paypalobjects.com', 'paypal.com/web-sdk/', 'paypal.com/tagmanager/'],
      inline: ['paypal.Buttons(', 'PayPalCommerceGateway=', 'paypal.Messages('],
      refers: ['paypalobjects.com', 'paypal.com/cgi-bin/'],
    }),
    service('shop-pay', 'Shop Pay', 'Shopify', 'https://www.shopify.com/shop-pay', {
      loads: ['cdn.shopify.com ^/shopifycloud/(?:shopify/assets/)?shopify_pay/', 'cdn.shopify.com/shopifycloud/shop-js/'],
      paths: ['/shopifycloud/shopify/assets/shopify_pay/'],
      inline: ['ShopifyPay.apiHost='],
      elements: ['shop-pay-button'],
    }),
    service('amazon-pay', 'Amazon Pay', 'Amazon', 'https://pay.amazon.com', {
      markup: ['id:amazon-payments-metadata'],
      paths: ['~/plugins/woocommerce-gateway-amazon-payments-advanced/'],
      loads: ['payments-amazon.com'],
      inline: ['amazon.Pay.renderButton(', 'OffAmazonPayments.Button('],
    }),
    service('braintree', 'Braintree', 'PayPal', 'https://www.braintreepayments.com', {
      settings: ['wc_braintree_client_manager_params='],
      loads: ['js.braintreegateway.com'],
      inline: ['braintree.dropin.create(', 'braintree.client.create(', 'braintree.setup('],
    }),
    service('apple-pay', 'Apple Pay', 'Apple', 'https://www.apple.com/apple-pay/', {
      loads: ['applepay.cdn-apple.com'],
      elements: ['apple-pay-button'],
      markup: ['data:pi-apple_pay', 'id:apple-pay-shop-capabilities'],
      inline: ['~ApplePaySession('],
    }),
    service('google-pay', 'Google Pay', 'Google', 'https://pay.google.com', {
      loads: ['pay.google.com/gp/p/js/'],
      markup: ['data:pi-google_pay'],
      inline: ['google.payments.api.PaymentsClient('],
    }),
  ],
  'shipping-returns': [
    app('route', 'Route', 'Route', 'https://route.com', {
      elements: ['route-protect-widget'],
      loads: ['routeapp.io', 'shopify-widget.route.com'],
      apps: ['route'],
    }),
    app('returngo', 'ReturnGO', 'ReturnGO', 'https://returngo.ai', { loads: ['returngo.ai'], links: ['returngo.ai'] }),
    app('malomo', 'Malomo', 'Malomo', 'https://gomalomo.com', { loads: ['gomalomo.com'], links: ['gomalomo.com'] }),
    app('loop-returns', 'Loop Returns', 'Loop', 'https://www.loopreturns.com', {
      inline: ['LoopOnstore.init('],
      loads: [
        'cdn.loopreturns.com',
        'loopreturns.com/onstore',
        'unpkg.com ^/@loophq/onstore-sdk@',
        'jsdelivr.net ^/npm/@loophq/onstore-sdk@',
      ],
      links: ['loopreturns.com'],
    }),
    service('narvar', 'Narvar', 'Narvar', 'https://corp.narvar.com', {
      loads: ['hub.narvar.com', 'static.narvar.com', 'narvar.com/js/'],
      links: ['narvar.com'],
    }),
  ],
};
