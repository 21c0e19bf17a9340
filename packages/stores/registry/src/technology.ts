/** What a technology is for, by slug. A technology has exactly one. Slugs are in responses and never change. */
export const CATEGORIES = {
  'ecommerce-platform': 'Ecommerce platform',
  theme: 'Theme',
  'email-sms': 'Email and SMS',
  push: 'Push notifications',
  popups: 'Popups',
  reviews: 'Reviews',
  loyalty: 'Loyalty and referrals',
  subscriptions: 'Subscriptions',
  'helpdesk-chat': 'Helpdesk and chat',
  personalization: 'Personalization',
  upsell: 'Upsell',
  search: 'Search and merchandising',
  wishlist: 'Wishlist',
  bnpl: 'Buy now, pay later',
  payments: 'Payments',
  analytics: 'Analytics',
  'session-replay': 'Session replay',
  'tag-manager': 'Tag manager',
  cdp: 'Customer data platform',
  'ad-pixel': 'Advertising pixel',
  'ab-testing': 'A/B testing',
  consent: 'Consent management',
  affiliate: 'Affiliate marketing',
  'page-builder': 'Page builder',
  'cross-border': 'Cross-border and localization',
  'shipping-returns': 'Shipping and returns',
  fraud: 'Fraud prevention',
  'bot-protection': 'Bot protection',
  'cdn-hosting': 'CDN and hosting',
  monitoring: 'Monitoring',
  ugc: 'User-generated content and video',
} as const;

export type CategorySlug = keyof typeof CATEGORIES;

/** `platform`; `app`: a listing of a platform's marketplace; `service`: a vendor detected outside of one; `theme`. Spec: S2.11. */
export const TECHNOLOGY_KINDS = ['platform', 'app', 'service', 'theme'] as const;
export type TechnologyKind = (typeof TECHNOLOGY_KINDS)[number];

/** One entry of the vocabulary. Spec: S2.24; `listing_url` depends on the deployment and is added by rendering. */
export interface Technology {
  readonly slug: string;
  readonly name: string;
  /** `app` if the vendor is mainly installed from a marketplace, regardless of how a store installed it. */
  readonly kind: TechnologyKind;
  readonly category: CategorySlug;
  /** The company under its trade name; null for a community project. */
  readonly vendor: string | null;
  readonly website: string | null;
}

/** The marks by which a technology is detected: texts by channel. All of it is data and therefore part of the checksum. A text that begins with
 *  `~` is weak. A text with `+` only adds to others and reports nothing alone. All others are strong, because only the technology produces them.
 *  In `markup` only texts with `!` are strong; `settings`, `refers`, `statics`, `data` and `links` are always weak. */
export interface TechnologyRules {
  /** Addresses of its scripts and frames: `host` with everything below it, `host/path prefix`, `host *part of the path`, `host ^pattern of
   *  the path`. Hosts match whole labels. In script tags and frames the channel is `host`, in code of inline scripts `inline`. */
  readonly loads?: readonly string[];
  /** Addresses of its styles, pictures and forms, as in `loads`. Channel `asset`. */
  readonly refers?: readonly string[];
  /** Hosts below which a network names its customers, if such a name serves the site's own files (`staticHosts`). Channel `asset`. */
  readonly statics?: readonly string[];
  /** Hosts in JSON of scripts. Channel `data`, weak. */
  readonly data?: readonly string[];
  /** Literals of inline code (`inline-literals.ts`), or `id:` and the start of an id of a tag. Channel `inline`. */
  readonly inline?: readonly string[];
  /** Literals of inline code that only configure it and load nothing. Channel `inline`, weak. */
  readonly settings?: readonly string[];
  /** `name`, `name:start of the value`, `name:*part of the value`. Channel `header`. */
  readonly headers?: readonly string[];
  /** `name`, or `start of a name*`. Channel `cookie`. */
  readonly cookies?: readonly string[];
  /** As `headers`. Channel `meta`. */
  readonly metas?: readonly string[];
  /** Parts of the path of scripts, frames and styles of the site itself, including its subdomains and hosts of its files (`staticHosts`). Channel
   *  `path`. */
  readonly paths?: readonly string[];
  /** Custom elements. Channel `markup`. */
  readonly elements?: readonly string[];
  /** `data:name of a data attribute`, `class:first part of a class`, `id:id of a script or of a meta without name`, `type:type of a script`, `form:part of an address that
   *  a form is sent to`. Channel `markup`. */
  readonly markup?: readonly string[];
  /** Handle of an app block, or `ext:` and the slug of a theme app extension. Channel `app`. */
  readonly apps?: readonly string[];
  /** Entries of the list of web pixels. Channel `app`. */
  readonly pixels?: readonly string[];
  /** Hosts below which this platform gives stores their names. Channel `site`. */
  readonly sites?: readonly string[];
  /** Names of documents that were read (`StoreEvidence.endpoints`). Channel `endpoint`. */
  readonly endpoints?: readonly string[];
  /** Hosts of vendor pages for one store: its own subdomains. Channel `link`. */
  readonly links?: readonly string[];
  /** A theme by its `schema_name`, else by its id in the theme store. Channel `fact`; only the theme that visitors see. */
  readonly theme?: { readonly schema: string; readonly id: number };
  /** Reported only together with this platform. */
  readonly requires?: string;
  /** Platforms whose edge uses it for all their stores. Reported only if the platform is known and not among them. */
  readonly suppliedBy?: readonly string[];
  /** Technologies whose marks this one imitates. */
  readonly excludes?: readonly string[];
}

export type RulesBySlug = Readonly<Record<string, TechnologyRules>>;

/** `adds` counts beside others and reports nothing alone. */
export type Strength = 'strong' | 'weak' | 'adds';

const PREFIX = /^[~+!]/;

/** The text of a rule without the sign of its strength. */
export function spellingOf(text: string): string {
  return text.replace(PREFIX, '');
}

/** @param usual - the strength without a sign. */
export function strengthOf(text: string, usual: Strength): Strength {
  if (text.startsWith('+')) return 'adds';
  if (text.startsWith('~')) return 'weak';
  return text.startsWith('!') ? 'strong' : usual;
}

/** One technology: its description and its detection rules. */
export type TechnologyEntry = Omit<Technology, 'category'> & { readonly rules: TechnologyRules };
export type TechnologiesByCategory = Readonly<Partial<Record<CategorySlug, readonly TechnologyEntry[]>>>;

const entryOf =
  (kind: TechnologyKind) =>
  (slug: string, name: string, vendor: string | null, website: string, rules: TechnologyRules): TechnologyEntry => ({
    slug,
    name,
    kind,
    vendor,
    website,
    rules,
  });

export const platform = entryOf('platform');
export const app = entryOf('app');
export const service = entryOf('service');
export const theme = entryOf('theme');
