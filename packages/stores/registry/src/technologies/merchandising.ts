import { app, service, type TechnologiesByCategory } from '../technology.ts';

/** Product discovery and page building. Sources: the install pages of vendors, and the corpus. */
export const MERCHANDISING: TechnologiesByCategory = {
  personalization: [
    app('rebuy', 'Rebuy', 'Rebuy', 'https://www.rebuyengine.com', {
      loads: ['cdn.rebuyengine.com', 'rebuyengine.com/onsite'],
      apps: ['rebuy-personalization', 'rebuy'],
      markup: ['data:rebuy-id'],
    }),
    service('nosto', 'Nosto', 'Nosto', 'https://www.nosto.com', {
      markup: ['class:nosto'],
      loads: ['connect.nosto.com'],
      metas: ['nosto-version'],
      inline: ['~nostojs(', 'nostojs.init('],
    }),
    service('dynamic-yield', 'Dynamic Yield', 'Mastercard', 'https://www.dynamicyield.com', {
      loads: ['cdn.dynamicyield.com', 'cdn-eu.dynamicyield.com', 'st.dynamicyield.com', 'dynamicyield.com/api/'],
      inline: ['DY.recommendationContext='],
    }),
    app('octane-ai', 'Octane AI', 'Octane AI', 'https://www.octaneai.com', { loads: ['octaneai.com'] }),
    app('helium-customer-fields', 'Customer Fields', 'Helium', 'https://www.customerfields.com', {
      loads: ['customerfields.com'],
      apps: ['helium-customer-fields'],
    }),
  ],
  upsell: [
    app('vitals', 'Vitals', 'Vitals', 'https://vitals.app', {
      loads: ['vitals.app', 'appsolve.io'],
      apps: ['vitals', 'sticky-add-to-cart-bar'],
    }),
  ],
  search: [
    service('algolia', 'Algolia', 'Algolia', 'https://www.algolia.com', {
      settings: ['"ALGOLIA_APP_ID'],
      paths: ['/Algolia_AlgoliaSearch/'],
      loads: [
        'algolia.net',
        'algolianet.com',
        'jsdelivr.net ^/npm/(?:algoliasearch|instantsearch\\.js|@algolia/[a-z-]+)@',
        'jsdelivr.net ^/(?:algoliasearch|instantsearch\\.js|autocomplete\\.js)/',
        'cdnjs.cloudflare.com ^/ajax/libs/(?:algoliasearch|instantsearch\\.js)/',
        'unpkg.com ^/(?:algoliasearch|instantsearch\\.js|@algolia/[a-z-]+)@',
      ],
      inline: ['algoliasearch(', 'algoliaConfig='],
    }),
    service('searchspring', 'Searchspring', 'Athos Commerce', 'https://searchspring.com', {
      loads: ['cdn.searchspring.net', 'snapui.searchspring.io', 'searchspring.net/search'],
    }),
    app('klevu', 'Klevu', 'Athos Commerce', 'https://www.klevu.com', {
      loads: ['js.klevu.com', 'ksearchnet.com'],
      inline: ['klevu_apiKey='],
    }),
    service('constructor-io', 'Constructor', 'Constructor', 'https://constructor.com', { loads: ['cnstrc.com'] }),
    app('boost-commerce', 'Boost AI Search & Discovery', 'Boost Commerce', 'https://boostcommerce.net', {
      inline: ['boostPFSConfig=', 'boostPFSThemeConfig=', 'bcSfFilterConfig=', 'boostSDAppConfig='],
      loads: ['mybcapps.com', 'boostcommerce.net', 'cdn.boostcommerce.io'],
      apps: ['boost-ai-search-filter'],
    }),
    app('searchanise', 'Searchanise', 'Searchanise', 'https://searchanise.io', {
      loads: ['searchanise.com', 'searchserverapi.com', 'searchserverapi1.com', 'searchanise-ef84.kxcdn.com'],
      inline: ['Searchanise='],
    }),
  ],
  wishlist: [
    app('swym', 'Swym Wishlist Plus', 'Swym', 'https://getswym.com', {
      inline: ['SwymViewProducts=', 'SwymPageData=', 'SwymWatchProducts='],
      loads: ['swymrelay.com', 'azureedge.net *swym'],
      apps: ['wishlist-plus', 'swym-relay'],
      markup: ['class:swym'],
    }),
  ],
  'page-builder': [
    app('pagefly', 'PageFly', 'PageFly', 'https://pagefly.io', {
      loads: ['cdn.pagefly.io'],
      apps: ['pagefly-page-builder'],
      markup: ['+data:pf-type'],
    }),
    app('shogun', 'Shogun', 'Shogun', 'https://getshogun.com', {
      loads: ['cdn.getshogun.com', 'lib.getshogun.com', 'getshogun.com *.js'],
      apps: ['shogun-page-builder'],
      markup: ['class:shogun'],
    }),
    app('replo', 'Replo', 'Replo', 'https://www.replo.app', {
      loads: ['replocdn.com'],
      apps: ['replo'],
      markup: ['data:replo-id'],
    }),
    app('gempages', 'GemPages', 'GemPages', 'https://gempages.net', {
      paths: ['/files/gempagev'],
      loads: ['gempages.net', 'cdn.shopify.com *gempagev', 'assets.gemcommerce.com'],
      apps: ['gempages', 'gempages-builder'],
    }),
  ],
  'cross-border': [
    app('weglot', 'Weglot', 'Weglot', 'https://www.weglot.com', {
      paths: ['~/plugins/weglot/'],
      loads: ['cdn.weglot.com'],
      headers: ['weglot-translated'],
      inline: ['Weglot.initialize('],
    }),
    service('global-e', 'Global-e', 'Global-e', 'https://www.global-e.com', {
      inline: ['~GlobalE='],
      cookies: ['GlobalE_Data'],
      loads: ['global-e.com', 'bglobale.com'],
    }),
  ],
  ugc: [
    app('tolstoy', 'Tolstoy', 'Tolstoy', 'https://www.gotolstoy.com', {
      markup: ['class:tolstoy'],
      loads: ['widget.gotolstoy.com', 'gotolstoy.com/widget', 'play.gotolstoy.com'],
      apps: ['tolstoy'],
    }),
    app('foursixty', 'Foursixty', 'Foursixty', 'https://foursixty.com', { loads: ['foursixty.com/media/'] }),
    app('elfsight', 'Elfsight', 'Elfsight', 'https://elfsight.com', {
      loads: ['static.elfsight.com', 'apps.elfsight.com', 'elfsightcdn.com', 'elf.site'],
      markup: ['class:elfsight'],
    }),
  ],
};
