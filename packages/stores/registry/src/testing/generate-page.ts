/** Generated shop pages for measurements: of any size, with a realistic mixture of markup, inline code and JSON. */
const WORDS =
  'cotton linen merino jacket shirt trousers organic recycled delivery returns size guide winter summer new sale'.split(' ');
const VENDORS = [
  'https://static.klaviyo.com/onsite/js/ABC/klaviyo.js',
  'https://cdn.judge.me/widget/v1/judgeme.js',
  'https://js.stripe.com/v3/',
  'https://www.googletagmanager.com/gtag/js?id=G-ABCDE12345',
  'https://config.gorgias.chat/bundle-loader/01H',
  'https://cdn.shopify.com/extensions/019e/pushowl-306/assets/pushowl-shopify.js',
];
const META_PIXEL = `!function(f,b,e,v,n,t,s){if(f.fbq)return;n=f.fbq=function(){n.callMethod?n.callMethod.apply(n,arguments):n.queue.push(arguments)};t=b.createElement(e);t.async=!0;t.src=v;}(window,document,'script','https://connect.facebook.net/en_US/fbevents.js');fbq('init','123');`;

/** A page of a Shopify store of about this size. A third is inline script and JSON, as in saved pages of real stores. Deterministic. */
export function generatePage(bytes: number): string {
  let seed = 7;
  const next = (bound: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % bound;
  };
  const word = () => WORDS[next(WORDS.length)] ?? '';
  const words = (count: number) => Array.from({ length: count }, word).join(' ');
  const parts = [headOf()];
  let length = parts[0]?.length ?? 0;
  for (let i = 0; length < bytes; i++) {
    const part = i % 12 === 0 ? scriptOf(i, words, next) : cardOf(i, words, next);
    parts.push(part);
    length += part.length;
  }
  return `${parts.join('\n')}</body></html>`;
}

function headOf(): string {
  const scripts = VENDORS.map((url) => `<script async src="${url}"></script><link rel="preconnect" href="${url}">`).join('\n');
  return `<!doctype html><html class="no-js" lang="en"><head><meta charset="utf-8"><title>Shop</title><meta name="shopify-checkout-api-token" content="x">
<script>var Shopify = Shopify || {}; Shopify.shop = "a.myshopify.com"; Shopify.theme = {"name":"Dawn","id":1,"schema_name":"Dawn","theme_store_id":887,"role":"main"};</script>
${scripts}<script>${META_PIXEL}</script><link rel="stylesheet" href="/cdn/shop/t/1/assets/base.css"></head><body class="template-index gradient">`;
}

function cardOf(i: number, words: (count: number) => string, next: (bound: number) => number): string {
  return `<li class="grid__item scroll-trigger animate--slide-in" data-cascade style="--animation-order: ${i};"><div class="card-wrapper product-card-wrapper underline-links-hover"><div class="card card--standard card--media" style="--ratio-percent: 100%;">
<div class="card__inner color-scheme-2 gradient ratio"><div class="card__media"><div class="media media--transparent media--hover-effect"><img srcset="//shop.test/cdn/shop/files/p${i}.jpg?v=1&width=165 165w,//shop.test/cdn/shop/files/p${i}.jpg?v=1&width=360 360w" src="//shop.test/cdn/shop/files/p${i}.jpg?v=${next(99_999)}&amp;width=533" alt="${words(4)}" class="motion-reduce" loading="lazy" width="1200" height="1200"></div></div></div>
<div class="card__content"><div class="card__information"><h3 class="card__heading h5" id="title-template--${i}"><a href="/products/${words(2).replace(' ', '-')}-${i}" id="CardLink--${i}" class="full-unstyled-link">${words(5)}</a></h3><div class="card-information"><span class="visually-hidden">${words(3)}</span><div class="price "><div class="price__container"><div class="price__regular"><span class="visually-hidden visually-hidden--inline">Regular price</span><span class="price-item price-item--regular">$${next(200)}.00 USD</span></div></div></div></div></div></div></div></div></li>
<p class="rte">${words(40)}</p>`;
}

function scriptOf(i: number, words: (count: number) => string, next: (bound: number) => number): string {
  const variants = Array.from({ length: 12 }, (_, v) => `{"id":${next(1e9)},"title":"${words(2)}","option1":"${words(1)}","sku":"SKU-${v}","featured_image":{"src":"\\/\\/cdn.shopify.com\\/s\\/files\\/1\\/${next(999)}\\/p.jpg"},"available":true,"price":${next(20_000)},"name":"${words(3)}"}`); // prettier-ignore
  return `<script>(function(){ /* ${words(8)} */ var section${i} = document.getElementById("s-${i}"); if (!section${i}) { return; }
  function init(e,t){ var r = t / 2, n = e.replace(/[^a-z]+/g, "-"); for (var a = 0; a < r; a++) { window.theme.settings[n] = { moneyFormat: "\${{amount}}", cartType: 'drawer', strings: { addToCart: "Add to cart" } }; } return n; } // ${words(6)}
  window.productJson${i} = {"id":${next(1e9)},"title":"${words(4)}","description":"\\u003cp\\u003e${words(40)}\\u003c\\/p\\u003e","variants":[${variants.join(',')}]}; init("${words(1)}", ${next(50)}); })();</script>`;
}
