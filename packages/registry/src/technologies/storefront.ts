import { app, service, type TechnologiesByCategory } from '../technology.ts';

/** What visitors of a store use, and how its pages are made. */
export const STOREFRONT: TechnologiesByCategory = {
  'helpdesk-chat': [
    app('gorgias', 'Gorgias', 'Gorgias', 'https://www.gorgias.com'),
    app('shopify-inbox', 'Shopify Inbox', 'Shopify', 'https://www.shopify.com/inbox'),
    service('zendesk', 'Zendesk', 'Zendesk', 'https://www.zendesk.com'),
    service('intercom', 'Intercom', 'Intercom', 'https://www.intercom.com'),
    app('tidio', 'Tidio', 'Tidio', 'https://www.tidio.com'),
    app('reamaze', 'Re:amaze', 'GoDaddy', 'https://www.reamaze.com'),
    service('livechat', 'LiveChat', 'Text', 'https://www.livechat.com'),
    service('tawk-to', 'tawk.to', 'tawk.to', 'https://www.tawk.to'),
    service('crisp', 'Crisp', 'Crisp', 'https://crisp.chat'),
    service('drift', 'Drift', 'Salesloft', 'https://www.salesloft.com/platform/drift'),
    service('hubspot', 'HubSpot', 'HubSpot', 'https://www.hubspot.com'),
    service('gladly', 'Gladly', 'Gladly', 'https://www.gladly.ai'),
    app('richpanel', 'Richpanel', 'Richpanel', 'https://www.richpanel.com'),
    service('kustomer', 'Kustomer', 'Kustomer', 'https://www.kustomer.com'),
  ],
  personalization: [
    app('rebuy', 'Rebuy', 'Rebuy', 'https://www.rebuyengine.com'),
    service('nosto', 'Nosto', 'Nosto', 'https://www.nosto.com'),
    service('dynamic-yield', 'Dynamic Yield', 'Mastercard', 'https://www.dynamicyield.com'),
    app('octane-ai', 'Octane AI', 'Octane AI', 'https://www.octaneai.com'),
    app('helium-customer-fields', 'Customer Fields', 'Helium', 'https://www.customerfields.com'),
  ],
  upsell: [app('vitals', 'Vitals', 'Vitals', 'https://vitals.app')],
  search: [
    service('algolia', 'Algolia', 'Algolia', 'https://www.algolia.com'),
    service('searchspring', 'Searchspring', 'Athos Commerce', 'https://searchspring.com'),
    app('klevu', 'Klevu', 'Athos Commerce', 'https://www.klevu.com'),
    service('constructor-io', 'Constructor', 'Constructor', 'https://constructor.com'),
    app('boost-commerce', 'Boost AI Search & Discovery', 'Boost Commerce', 'https://boostcommerce.net'),
    app('searchanise', 'Searchanise', 'Searchanise', 'https://searchanise.io'),
  ],
  wishlist: [app('swym', 'Swym Wishlist Plus', 'Swym', 'https://getswym.com')],
  'page-builder': [
    app('pagefly', 'PageFly', 'PageFly', 'https://pagefly.io'),
    app('shogun', 'Shogun', 'Shogun', 'https://getshogun.com'),
    app('replo', 'Replo', 'Replo', 'https://www.replo.app'),
    app('gempages', 'GemPages', 'GemPages', 'https://gempages.net'),
  ],
  'cross-border': [
    app('weglot', 'Weglot', 'Weglot', 'https://www.weglot.com'),
    service('global-e', 'Global-e', 'Global-e', 'https://www.global-e.com'),
  ],
  ugc: [
    app('tolstoy', 'Tolstoy', 'Tolstoy', 'https://www.gotolstoy.com'),
    app('foursixty', 'Foursixty', 'Foursixty', 'https://foursixty.com'),
    app('elfsight', 'Elfsight', 'Elfsight', 'https://elfsight.com'),
  ],
};
