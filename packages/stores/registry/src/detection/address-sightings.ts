import type { PageEvidence } from '../evidence/evidence.ts';
import { findTechnology } from '../vocabulary.ts';
import type { Channel, Rule, RuleIndex } from '../rules/rule-index.ts';

/** The lists of evidence to which a list of rules is applied. */
const LOADED = ['scripts', 'frames'] as const;

/** Shopify proxies scripts of some apps on its own host. */
const PROXIED = /^cdn\.shopify\.com\/proxy\/[0-9a-z]{64}\//;

/** Receives a match. `loads`: as in `Sighting`. */
export type Take = (rule: Rule, channel: Channel, found: string, loads: boolean) => void;

/** Looks up hosts of addresses by suffix of whole labels. Each host of a scan is looked up once. */
export class AddressSightings {
  readonly #index: RuleIndex;
  readonly #byHost = new Map<string, readonly Rule[]>();

  constructor(index: RuleIndex) {
    this.#index = index;
  }

  /** @param statics - other hosts with the site's own files. */
  find(page: PageEvidence, statics: ReadonlySet<string>, take: Take): void {
    for (const list of LOADED) this.#apply(page[list], 'loads', 'host', true, take);
    this.#apply(page.inertScripts, 'loads', 'host', false, take);
    this.#apply(page.inlineUrls, 'loads', 'inline', true, take);
    this.#apply(page.assets, 'refers', 'asset', false, take);
    // A picture of a product may come from another shop and is no evidence of this shop's platform. A picture of an advertiser is a
    // tracking request.
    const takeImage: Take = (rule, channel, found) => {
      const technology = findTechnology(rule.slug);
      take(
        technology?.kind === 'platform' ? { ...rule, strength: 'adds' } : rule,
        channel,
        found,
        technology?.category === 'ad-pixel',
      );
    };
    this.#apply(page.images, 'refers', 'asset', false, takeImage);
    for (const host of statics)
      for (const rule of this.#rulesOf(host)) if (rule.list === 'statics') take(rule, 'asset', host, true);
    // A form submitted to a vendor proves use of the vendor.
    this.#apply(page.forms, 'refers', 'asset', true, take);
    this.#apply(page.dataHosts, 'data', 'data', false, take);
    this.#apply(page.linkHosts, 'links', 'link', false, take);
    this.#apply([page.host], 'sites', 'site', true, take);
    // A hint has a host and no path, so it is looked up without one.
    for (const host of page.hints) {
      for (const rule of this.#rulesOf(host)) if (rule.list === 'loads') take({ ...rule, strength: 'adds' }, 'hint', host, false);
    }
  }

  #apply(addresses: readonly string[], list: Rule['list'], channel: Channel, loads: boolean, take: Take): void {
    for (const found of addresses) {
      const address = found.replace(PROXIED, '');
      const slash = address.indexOf('/');
      if (slash === 0) continue;
      const rules = this.#rulesOf(slash === -1 ? address : address.slice(0, slash));
      for (const rule of rules) {
        // Many sites link to a vendor's own site. A host below it belongs to this store.
        if (list === 'links' && address === rule.key) continue;
        if (rule.list !== list || !rule.matches(slash === -1 ? '/' : address.slice(slash))) continue;
        // A host alone in code occurs in block lists as often as before a path.
        if (channel === 'inline' && slash === address.length - 1)
          take({ ...rule, strength: rule.strength === 'strong' ? 'weak' : 'adds' }, channel, found, false);
        else take(rule, channel, found, loads);
      }
    }
  }

  #rulesOf(host: string): readonly Rule[] {
    const known = this.#byHost.get(host);
    if (known !== undefined) return known;
    const labels = host.split('.');
    const rules = labels.flatMap((_, at) => this.#index.findHost(labels.slice(at).join('.')));
    this.#byHost.set(host, rules);
    return rules;
  }
}
