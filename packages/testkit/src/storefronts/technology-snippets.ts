/** How a page loads a vendor, as the vendor's documentation tells merchants to, by the vendor's slug. */
export const TECHNOLOGY_SNIPPETS: Readonly<Record<string, string>> = {
  klaviyo: '<script async type="text/javascript" src="https://static.klaviyo.com/onsite/js/XyZ123/klaviyo.js"></script>',
  attentive: '<script src="https://cdn.attn.tv/fixture/dtag.js" async></script>',
  omnisend: '<script src="https://omnisnippet1.com/inshop/launcher-v2.js" async></script>',
  mailchimp: '<script src="https://chimpstatic.com/mcjs-connected/js/users/1a2b/3c4d.js" async></script>',
  privy: '<script src="https://widget.privy.com/assets/widget.js" async></script>',
  yotpo: '<script src="https://cdn-widgetsrepository.yotpo.com/v1/loader/AbC123" async></script>',
  'judge-me': '<script src="https://cdnwidget.judge.me/widget_preloader.js" async></script><div class="jdgm-widget"></div>',
  loox: '<script>var loox_global_hash = "1731409200";</script><script src="https://loox.io/widget/4J1xYz/loox.js" async></script>',
  stamped: '<script src="https://cdn1.stamped.io/files/widget.min.js" async></script>',
  trustpilot: '<script src="https://widget.trustpilot.com/bootstrap/v5/tp.widget.bootstrap.min.js" async></script>',
  'smile-io': '<script src="https://js.smile.io/v1/smile-shopify.js" async></script>',
  recharge: '<script src="https://static.rechargecdn.com/assets/js/widget.min.js" async></script>',
  gorgias: '<script id="gorgias-chat-widget-install-v3" src="https://config.gorgias.chat/bundle-loader/01HXYZ"></script>',
  zendesk: '<script id="ze-snippet" src="https://static.zdassets.com/ekr/snippet.js?key=1a2b"></script>',
  intercom: '<script async src="https://widget.intercom.io/widget/abc123"></script>',
  tidio: '<script src="//code.tidio.co/abcdef123456.js" async></script>',
  hubspot: '<script id="hs-script-loader" async defer src="//js.hs-scripts.com/1234567.js"></script>',
  rebuy: '<script src="https://cdn.rebuyengine.com/onsite/js/rebuy.js?shop=fixture" async></script>',
  nosto: '<script src="https://connect.nosto.com/include/abcd1234" async></script>',
  algolia: '<script src="https://abc123-dsn.algolia.net/1/indexes" async></script>',
  klarna: '<script src="https://js.klarna.com/web-sdk/v1/klarna.js" async></script>',
  stripe: '<script src="https://js.stripe.com/v3/" async></script>',
  paypal: '<script src="https://www.paypal.com/sdk/js?client-id=test&currency=EUR"></script>',
  'google-analytics':
    '<script async src="https://www.googletagmanager.com/gtag/js?id=G-ABCDEF1234"></script><script>gtag("config", "G-ABCDEF1234");</script>',
  'google-tag-manager':
    '<script>(function(w,d,s,l,i){})(window,document,"script","dataLayer","GTM-ABC1234");</script><noscript><iframe src="https://www.googletagmanager.com/ns.html?id=GTM-ABC1234"></iframe></noscript>',
  'meta-pixel':
    '<script>!function(f,b,e,v){}(window,document,"script","https://connect.facebook.net/en_US/fbevents.js"); fbq("init", "123456789012345");</script>',
  'tiktok-pixel':
    '<script>ttq.load("C4ABCDEF"); ttq.page();</script><script src="https://analytics.tiktok.com/i18n/pixel/events.js?sdkid=C4ABCDEF" async></script>',
  'pinterest-tag':
    '<script>pintrk("load", "2612345678901");</script><script src="https://s.pinimg.com/ct/core.js" async></script>',
  hotjar: '<script src="https://static.hotjar.com/c/hotjar-1234567.js?sv=6" async></script>',
  'microsoft-clarity': '<script src="https://www.clarity.ms/tag/abcdefghij" async></script>',
  criteo: '<script src="https://dynamic.criteo.com/js/ld/ld.js?a=12345" async></script>',
  vwo: '<script src="https://dev.visualwebsiteoptimizer.com/j.php?a=123456" async></script>',
  optimizely: '<script src="https://cdn.optimizely.com/js/1234567890.js"></script>',
  onetrust:
    '<script src="https://cdn.cookielaw.org/scripttemplates/otSDKStub.js" data-domain-script="0190-fixture" charset="UTF-8"></script>',
  cookiebot: '<script id="Cookiebot" src="https://consent.cookiebot.com/uc.js" data-cbid="0000-fixture"></script>',
  awin: '<script src="https://www.dwin1.com/12345.js" defer></script>',
  weglot: '<script src="https://cdn.weglot.com/weglot.min.js"></script>',
  sentry: '<script src="https://browser.sentry-cdn.com/8.40.0/bundle.min.js" crossorigin="anonymous"></script>',
};
