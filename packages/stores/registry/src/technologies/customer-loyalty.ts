import { app, service, type TechnologiesByCategory } from '../technology.ts';

/** Reviews, loyalty and subscriptions. Sources: the install pages of vendors, and the corpus. */
export const CUSTOMER_LOYALTY: TechnologiesByCategory = {
  reviews: [
    app('yotpo', 'Yotpo Reviews', 'Yotpo', 'https://www.yotpo.com', {
      loads: ['staticw2.yotpo.com', 'cdn-widgetsrepository.yotpo.com', 'w2.yotpo.com', 'cdn-widget-assets.yotpo.com'],
      apps: ['yotpo-product-reviews', 'yotpo-social-reviews'],
      markup: ['class:yotpo'],
    }),
    app('judge-me', 'Judge.me', 'Judge.me', 'https://judge.me', {
      pixels: ['client:683015'],
      loads: ['cdn.judge.me', 'cdnwidget.judge.me', 'judgeme.imgix.net', 'cdn1.judge.me', 'cache.judge.me'],
      inline: ['jdgmSettings=', '~jdgm='],
      apps: ['judge-me-reviews', 'judgeme'],
      markup: ['class:jdgm'],
    }),
    app('loox', 'Loox', 'Loox', 'https://loox.app', {
      loads: ['loox.io/widget/'],
      inline: ['loox_global_hash='],
      apps: ['loox', 'loox-inc', 'loox-reviews'],
      markup: ['class:loox'],
    }),
    app('okendo', 'Okendo', 'Okendo', 'https://okendo.io', {
      inline: ['~okeWidgetApi'],
      loads: ['okendo.io/reviews-widget-plus', 'cdn-static.okendo.io', 'd3hw6dc1ow8pp2.cloudfront.net', 'api.okendo.io'],
      metas: ['oke:subscriber_id'],
      apps: ['okendo', 'okendo-reviews'],
      markup: ['data:oke-widget', 'class:okeReviews'],
    }),
    app('stamped', 'Stamped', 'Stamped', 'https://stamped.io', {
      inline: ['StampedFn.init('],
      loads: ['stamped.io', 'cdn-stamped-io.azureedge.net'],
      markup: ['class:stamped', 'id:stamped-script-widget'],
      apps: ['stamped-io-product-reviews'],
    }),
    app('reviews-io', 'REVIEWS.io', 'REVIEWS.io', 'https://www.reviews.io', {
      elements: ['~reviewsio-carousel-widget'],
      loads: ['widget.reviews.io', 'widget.reviews.co.uk', 'assets.reviews.io', 'assets.reviews.co.uk'],
      inline: ['~ReviewsWidget('],
    }),
    service('trustpilot', 'Trustpilot', 'Trustpilot', 'https://www.trustpilot.com', {
      settings: ['"businessUnitId'],
      paths: ['~/plugins/trustpilot-reviews/'],
      inline: ['TrustpilotObject='],
      loads: [
        'widget.trustpilot.com',
        'invitejs.trustpilot.com',
        'ecommplugins-scripts.trustpilot.com',
        'ecommscript-integrationapp.trustpilot.com',
      ],
      markup: ['class:trustpilot'],
    }),
    service('bazaarvoice', 'Bazaarvoice', 'Bazaarvoice', 'https://www.bazaarvoice.com', {
      inline: ['$BV.ui(', '$BV.configure('],
      loads: ['apps.bazaarvoice.com', 'ugc.bazaarvoice.com', 'static.bazaarvoice.com'],
      markup: ['data:bv-show'],
    }),
    service('powerreviews', 'PowerReviews', 'PowerReviews', 'https://www.powerreviews.com', {
      loads: ['ui.powerreviews.com', 'cdn.powerreviews.com', 'static.powerreviews.com'],
      inline: ['POWERREVIEWS.display'],
    }),
    service('feefo', 'Feefo', 'Feefo', 'https://www.feefo.com', {
      markup: ['class:feefo'],
      loads: ['api.feefo.com', 'register.feefo.com'],
    }),
    service('trusted-shops', 'Trusted Shops', 'Trusted Shops', 'https://www.trustedshops.com', {
      loads: ['widgets.trustedshops.com', 'integrations.etrusted.com', 'integrations.etrusted.site'],
      elements: ['etrusted-widget', '~etrusted-product-review-list-widget'],
      inline: ['_tsConfig='],
    }),
    app('junip', 'Junip', 'Junip', 'https://junip.co', { loads: ['juniphq.com'], markup: ['class:junip'] }),
    app('fera', 'Fera', 'Fera', 'https://fera.ai', { loads: ['cdn.fera.ai'], inline: ['~fera='] }),
  ],
  loyalty: [
    app('smile-io', 'Smile.io', 'Smile.io', 'https://smile.io', {
      inline: ['SmileUI.init(', 'Smile.initialize('],
      loads: ['js.smile.io', 'cdn.sweettooth.io', 'cdn.smile.io'],
      apps: ['smile-io'],
    }),
    app('loyaltylion', 'LoyaltyLion', 'LoyaltyLion', 'https://loyaltylion.com', {
      loads: ['sdk.loyaltylion.net', 'loyaltylion.com/sdk'],
      inline: ['loyaltylion.init('],
    }),
    app('yotpo-loyalty', 'Yotpo Loyalty', 'Yotpo', 'https://www.yotpo.com/platform/loyalty/', {
      loads: ['cdn-loyalty.yotpo.com', 'cdn-swell-assets.yotpo.com', 'swellrewards.com'],
      apps: ['yotpo-loyalty-rewards', 'swell'],
    }),
    app('growave', 'Growave', 'Growave', 'https://www.growave.io', {
      loads: ['socialshopwave.com', 'growave.io'],
      apps: ['growave'],
    }),
  ],
  subscriptions: [
    app('recharge', 'Recharge', 'Recharge', 'https://getrecharge.com', {
      loads: [
        'rechargecdn.com',
        'static.rechargepayments.com',
        'rechargeassets-bootstrapheroes-rechargeapps.netdna-ssl.com',
        'rechargepayments.com',
      ],
      inline: ['~ReCharge'],
      apps: ['subscription-payments'],
    }),
    app('skio', 'Skio', 'Skio', 'https://skio.com', {
      apps: ['skio-subscriptions-ying', 'skio-subscriptions'],
      paths: ['/skio-plan-picker'],
      loads: ['cdn.skio.com'],
      elements: ['skio-plan-picker'],
    }),
    service('ordergroove', 'Ordergroove', 'Ordergroove', 'https://www.ordergroove.com', {
      loads: ['ordergroove.com'],
      elements: ['og-offer', 'og-optin-toggle'],
    }),
    app('seal-subscriptions', 'Seal Subscriptions', 'Seal Subscriptions', 'https://www.sealsubscriptions.com', {
      loads: ['sealsubscriptions.com'],
      apps: ['seal-subscriptions'],
      markup: ['class:sealsubs'],
    }),
    app('bold-subscriptions', 'Bold Subscriptions', 'Bold Commerce', 'https://boldcommerce.com/subscriptions', {
      loads: ['sub.boldapps.net', 'ro.boldapps.net', 'static.boldcommerce.com/bold-platform/sf/pr'],
    }),
    app('yotpo-subscriptions', 'Yotpo Subscriptions', 'Yotpo', 'https://www.yotpo.com', {
      apps: ['yotpo-subscriptions'],
      loads: ['subscriptions.yotpo.com', 'd18eg7dreypte5.cloudfront.net/scripts/integrations/'],
    }),
  ],
};
