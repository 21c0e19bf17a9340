import type { PageEvidence } from '../evidence/evidence.ts';
import { findTechnology } from '../vocabulary.ts';
import type { Channel, Rule, RuleIndex } from '../rules/rule-index.ts';
import type { Strength } from '../technology.ts';

/** Which lists of evidence a list of rules is applied to. */
const LOADED = ['scripts', 'frames'] as const;

/** Shopify passes scripts of some apps on from its own host. */
const PROXIED = /^cdn\.shopify\.com\/proxy\/[0-9a-z]{64}\//;

/** Takes a match. `loads`: as in `Sighting`. */
export type Take = (rule: Rule, channel: Channel, found: string, loads: boolean) => void;

/** Looks up hosts of addresses by suffix of whole labels. Each host of a scan is looked up once. */
export class AddressSightings {
  readonly #index: RuleIndex;
  readonly #byHost = new Map<string, readonly Rule[]>();

  constructor(index: RuleIndex) {
    this.#index = index;
  }

  /** @param statics - other hosts that have the site's own files. */
  find(page: PageEvidence, statics: ReadonlySet<string>, take: Take): void {
    for (const list of LOADED) this.#apply(page[list], 'loads', 'host', true, take);
    this.#apply(page.inertScripts, 'loads', 'host', false, take);
    this.#apply(page.inlineUrls, 'loads', 'inline', true, take);
    this.#apply(page.assets, 'refers', 'asset', false, take);
    // Anyone can show a picture of a product from another shop: it says nothing of the platform of this one.
    // One of an advertiser is a request of its own.
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
    // A form that is sent to a vendor is in use.
    this.#apply(page.forms, 'refers', 'asset', true, take);
    this.#apply(page.dataHosts, 'data', 'data', false, take);
    this.#apply(page.linkHosts, 'links', 'link', false, take);
    this.#apply([page.host], 'sites', 'site', true, take);
    // A hint names a host and no path, so it is looked up without one.
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
        // A vendor's own site is linked to by many; a host below it is for this store.
        if (list === 'links' && address === rule.key) continue;
        if (rule.list !== list || !rule.matches(slash === -1 ? '/' : address.slice(slash))) continue;
        // A host alone in code is in lists of what to block as often as before a path.
        if (channel === 'inline' && slash === address.length - 1)
          take({ ...rule, strength: weaker(rule.strength) }, channel, found, false);
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

function weaker(strength: Strength): Strength {
  return strength === 'strong' ? 'weak' : 'adds';
}
