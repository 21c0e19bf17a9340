import { app, service, type TechnologiesByCategory } from '../technology.ts';

/** Messages to customers. Sources: the install pages of vendors, and the corpus. */
export const MESSAGING: TechnologiesByCategory = {
  'email-sms': [
    app('klaviyo', 'Klaviyo', 'Klaviyo', 'https://www.klaviyo.com', {
      settings: ['kl_key='],
      paths: ['~/plugins/klaviyo/'],
      refers: ['manage.kmail-lists.com', 'a.klaviyo.com/subscriptions/'],
      loads: [
        'static.klaviyo.com',
        'a.klaviyo.com/media/js/',
        'static-tracking.klaviyo.com',
        'static-forms.klaviyo.com',
        'klaviyo.com/media/js/',
      ],
      inline: ['_klOnsite=', '_learnq=', 'KlaviyoSubscribe.attachToForms('],
      apps: ['klaviyo-email-marketing-sms', 'klaviyo-email-marketing', 'ext:klaviyo-email-marketing'],
      pixels: ['client:123074'],
      cookies: ['__kla_id'],
      markup: ['class:klaviyo'],
    }),
    app('attentive', 'Attentive', 'Attentive', 'https://www.attentive.com', {
      loads: ['attn.tv'],
      inline: ['__attentive_domain=', '~__attentive='],
      apps: ['attentive'],
    }),
    app('postscript', 'Postscript', 'Postscript', 'https://postscript.io', {
      loads: ['sdk.postscript.io', 'static.postscript.io'],
      inline: ['~postscript='],
      apps: ['postscript-sms-marketing'],
    }),
    app('omnisend', 'Omnisend', 'Omnisend', 'https://www.omnisend.com', {
      paths: ['~/plugins/omnisend-connect/'],
      loads: ['omnisnippet1.com', 'omnisrc.com', 'omnisend.com/inshop/'],
      metas: ['omnisend-site-verification'],
      inline: ['~omnisend='],
      apps: ['omnisend'],
    }),
    app('mailchimp', 'Mailchimp', 'Intuit', 'https://mailchimp.com', {
      paths: ['~/plugins/mailchimp-for-woocommerce/'],
      loads: [
        'chimpstatic.com/mcjs-connected/',
        'list-manage.com',
        'mailchimp.com/resources/',
        'mailchimpapp.com/js/',
        's3.amazonaws.com/downloads.mailchimp.com/',
        'downloads.mailchimp.com/js/',
      ],
      refers: ['list-manage.com', 'list-manage1.com', 'list-manage2.com', 'cdn-images.mailchimp.com'],
      pixels: ['mailchimp_store_id'],
      inline: ['$mcGoal='],
      markup: ['id:mcjs'],
    }),
    service('drip', 'Drip', 'Drip', 'https://www.drip.com', {
      refers: ['getdrip.com/forms/'],
      loads: ['tag.getdrip.com', 'getdrip.com/forms/'],
      inline: ['_dcq=', '~_dcs='],
    }),
    app('sendlane', 'Sendlane', 'Sendlane', 'https://www.sendlane.com', {
      loads: ['sendlane.com/scripts/'],
      inline: ['_Sendlane='],
    }),
    service('brevo', 'Brevo', 'Brevo', 'https://www.brevo.com', {
      loads: [
        'sibautomation.com',
        'cdn.brevo.com',
        'sibforms.com',
        'conversations-widget.brevo.com',
        'conversations-widget.sendinblue.com',
        'assets.sendinblue.com',
      ],
      inline: ['sendinblue=', 'Brevo.push(', '~sib=', 'BrevoConversationsID='],
      refers: ['sibforms.com'],
    }),
    service('activecampaign', 'ActiveCampaign', 'ActiveCampaign', 'https://www.activecampaign.com', {
      loads: ['diffuser-cdn.app-us1.com', 'trackcmp.net', 'activehosted.com', 'prism.app-us1.com'],
      refers: ['activehosted.com'],
      inline: ["vgo('setAccount"],
    }),
    service('getresponse', 'GetResponse', 'GetResponse', 'https://www.getresponse.com', {
      loads: ['gr-cdn.com', 'app.getresponse.com', 'getresponse.com/script'],
      refers: ['app.getresponse.com'],
      inline: ['__GetResponseAnalyticsObject='],
    }),
    service('braze', 'Braze', 'Braze', 'https://www.braze.com', {
      settings: ['BRAZE_API_KEY', '"BRAZE_API_KEY'],
      loads: ['js.appboycdn.com'],
      inline: ['braze.initialize(', 'appboy.initialize('],
    }),
    service('iterable', 'Iterable', 'Iterable', 'https://iterable.com', { loads: ['js.iterable.com'], inline: ['_iaq='] }),
    service('listrak', 'Listrak', 'Listrak', 'https://www.listrak.com', {
      loads: ['listrakbi.com', 'listrak.com'],
      inline: ['~_ltk'],
    }),
    service('emarsys', 'SAP Emarsys', 'SAP', 'https://emarsys.com', {
      loads: ['scarabresearch.com', 'emarsys.net'],
      inline: ['ScarabQueue='],
    }),
    service('bluecore', 'Bluecore', 'Bluecore', 'https://www.bluecore.com', {
      loads: ['api.bluecore.com', 'bluecore.com/triggermail.js', 'triggeredmail.appspot.com'],
      inline: ['triggermailQueue=', 'triggermail='],
    }),
  ],
  push: [
    app('pushowl', 'PushOwl', 'Brevo', 'https://www.pushowl.com', {
      loads: ['cdn.pushowl.com'],
      settings: ['pushowlSubdomain=', 'pushowlGUID='],
      apps: ['pushowl', 'ext:pushowl', 'pushowl-web-push-notifications'],
      inline: ['~pushowl='],
    }),
  ],
  popups: [
    app('privy', 'Privy', 'Privy', 'https://www.privy.com', {
      loads: ['widget.privy.com', 'privymktg.com', 'privy.com *widget.js', 'cdn.privy.com'],
      inline: ['_d_site='],
      apps: ['privy'],
    }),
    app('justuno', 'Justuno', 'Justuno', 'https://www.justuno.com', {
      loads: ['cdn.justuno.com', 'my.jst.ai', 'cdn.jst.ai'],
      inline: ['ju_num=', '~ju4_num='],
      apps: ['justuno'],
    }),
    app('wisepops', 'Wisepops', 'Wisepops', 'https://wisepops.com', {
      loads: ['loader.wisepops.com', 'wisepops.net'],
      inline: ['~wisepops='],
    }),
    service('optinmonster', 'OptinMonster', 'OptinMonster', 'https://optinmonster.com', {
      loads: ['a.omappapi.com', 'omappapi.com/app/', 'a.opmnstr.com', 'a.optmnstr.com', 'a.optmstr.com'],
    }),
    service('sumo', 'Sumo', 'Sumo', 'https://sumo.com', {
      markup: ['data:sumo-site-id'],
      inline: ['dataset.sumoSiteId='],
      loads: ['load.sumo.com', 'load.sumome.com'],
    }),
  ],
};
