import { app, service, type TechnologiesByCategory } from '../technology.ts';

/** Sources: the install pages of vendors, and the corpus. */
export const SUPPORT: TechnologiesByCategory = {
  'helpdesk-chat': [
    app('gorgias', 'Gorgias', 'Gorgias', 'https://www.gorgias.com', {
      inline: ['~GorgiasChat='],
      loads: ['config.gorgias.chat', 'gorgias.io', 'client-builds.production.gorgias.chat', 'gorgias.chat'],
      apps: ['gorgias'],
      markup: ['id:gorgias-chat-widget-install-v3', 'id:gorgias-chat-widget-install-v2'],
    }),
    app('shopify-inbox', 'Shopify Inbox', 'Shopify', 'https://www.shopify.com/inbox', {
      apps: ['inbox', 'ext:inbox'],
      loads: ['cdn.shopify.com/shopifycloud/shopify_chat/'],
    }),
    service('zendesk', 'Zendesk', 'Zendesk', 'https://www.zendesk.com', {
      loads: [
        'static.zdassets.com/ekr/',
        'zopim.com',
        'static.zdassets.com/web_widget/',
        'assets.zendesk.com/embeddable_framework/',
      ],
      markup: ['id:ze-snippet'],
      inline: ['$zopim=', 'zESettings=', 'zEmbed='],
    }),
    service('intercom', 'Intercom', 'Intercom', 'https://www.intercom.com', {
      loads: ['widget.intercom.io', 'js.intercomcdn.com'],
      inline: ['intercomSettings='],
    }),
    app('tidio', 'Tidio', 'Tidio', 'https://www.tidio.com', {
      inline: ['~tidioChatCode='],
      loads: ['code.tidio.co', 'widget-v4.tidiochat.com'],
      apps: ['tidio-chat'],
    }),
    app('reamaze', 'Re:amaze', 'GoDaddy', 'https://www.reamaze.com', { loads: ['cdn.reamaze.com'], inline: ['~_support='] }),
    service('livechat', 'LiveChat', 'Text', 'https://www.livechat.com', {
      loads: ['cdn.livechatinc.com'],
      inline: ['__lc.license='],
    }),
    service('tawk-to', 'tawk.to', 'tawk.to', 'https://www.tawk.to', { loads: ['embed.tawk.to'], inline: ['Tawk_API='] }),
    service('crisp', 'Crisp', 'Crisp', 'https://crisp.chat', {
      loads: ['client.crisp.chat'],
      inline: ['CRISP_WEBSITE_ID=', '~$crisp='],
    }),
    service('drift', 'Drift', 'Salesloft', 'https://www.salesloft.com/platform/drift', {
      loads: ['js.driftt.com'],
      inline: ['drift.SNIPPET_VERSION='],
    }),
    service('hubspot', 'HubSpot', 'HubSpot', 'https://www.hubspot.com', {
      inline: ['hbspt.forms.create('],
      loads: [
        'js.hs-scripts.com',
        'js-eu1.hs-scripts.com',
        'js-na2.hs-scripts.com',
        'hsforms.net',
        'js.hs-analytics.net',
        'js.hubspot.com',
        'hs-scripts.com',
        'hs-banner.com',
        'hs-analytics.net',
        'hscollectedforms.net',
        'hsadspixel.net',
        'usemessages.com',
        'hsforms.com',
        'hubapi.com/scriptloader/',
      ],
      markup: ['id:hs-script-loader'],
      cookies: ['hubspotutk'],
    }),
    service('gladly', 'Gladly', 'Gladly', 'https://www.gladly.ai', { loads: ['cdn.gladly.com'], inline: ['gladlyConfig='] }),
    app('richpanel', 'Richpanel', 'Richpanel', 'https://www.richpanel.com', {
      loads: ['cdn.richpanel.com', 'api.richpanel.com'],
      inline: ['~richpanel='],
    }),
    service('kustomer', 'Kustomer', 'Kustomer', 'https://www.kustomer.com', {
      inline: ['Kustomer.start('],
      markup: ['data:kustomer-api-key'],
      loads: ['cdn.kustomerapp.com'],
    }),
  ],
};
