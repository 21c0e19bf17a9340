import type { PageEvidence, StoreEvidence } from '../evidence/evidence.ts';
import { PART, PATTERN, type Channel, type Rule, type RuleIndex } from '../rules/rule-index.ts';
import { registrableDomain } from '../registrable-domain.ts';
import { AddressSightings, type Take } from './address-sightings.ts';

/** A page class of evidence, or `endpoint` for documents. */
type SightingPlace = PageEvidence['pageClass'] | 'endpoint';

/** A match of a rule. */
export interface Sighting {
  readonly place: SightingPlace;
  readonly channel: Channel;
  readonly rule: Rule;
  /** The matched text of the evidence. */
  readonly found: string;
  /** Whether the match proves loading: an executed script or a response of its server, but not a style, a class or an empty block. */
  readonly loads: boolean;
}

/** All matches of rules on the evidence of one scan, in the order of the evidence. */
export function findSightings(evidence: StoreEvidence, index: RuleIndex): Sighting[] {
  const sightings: Sighting[] = [];
  const addresses = new AddressSightings(index);
  for (const page of evidence.pages) {
    const place = page.pageClass;
    findOnPage(page, index, addresses, (rule, channel, found, loads) => sightings.push({ place, channel, rule, found, loads }));
  }
  for (const name of Object.keys(evidence.endpoints)) {
    for (const rule of index.find('endpoints', name)) {
      sightings.push({ place: 'endpoint', channel: 'endpoint', rule, found: name, loads: true });
    }
  }
  return sightings;
}

/** Records the rules of a list that have a key and match the value. `found` and `value` default to the key. */
type Find = (list: Rule['list'], key: string, channel: Channel, loads: boolean, found?: string, value?: string) => void;

function findOnPage(page: PageEvidence, index: RuleIndex, addresses: AddressSightings, take: Take): void {
  const find: Find = (list, key, channel, loads, found = key, value = found) => {
    for (const rule of index.find(list, key)) if (rule.matches(value)) take(rule, channel, found, loads);
  };
  const statics = staticHosts(page);
  addresses.find(page, statics, take);
  findInCode(page, find);
  findInResponse(page, find);
  findInPaths(page, statics, index, take);
  findInMarkup(page, find);
  for (const rule of index.find('markup', PATTERN)) {
    const found = page.forms.find(rule.matches);
    if (found !== undefined) take(rule, 'markup', found, false);
  }
  findApps(page, find);
  findTheme(page, find);
}

function findInCode(page: PageEvidence, find: Find): void {
  for (const name of page.inlineNames) {
    find('inline', name, 'inline', true);
    find('settings', name, 'inline', false);
  }
  for (const found of page.inlineIds) {
    const isInJson = found.startsWith('json:');
    find('inline', PATTERN, 'inline', !isInJson, found, isInJson ? found.slice('json:'.length) : found);
  }
}

function findInResponse(page: PageEvidence, find: Find): void {
  for (const [name, value] of Object.entries(page.headers)) find('headers', name, 'header', true, name, value);
  for (const [name, value] of Object.entries(page.metas)) find('metas', name, 'meta', false, name, value);
  for (const name of page.cookies) {
    find('cookies', name, 'cookie', true);
    find('cookies', PATTERN, 'cookie', true, name);
  }
}

/** Parts are searched in all paths of the site at once: one search per rule, not one per path. */
function findInPaths(page: PageEvidence, statics: ReadonlySet<string>, index: RuleIndex, take: Take): void {
  const site = registrableDomain(page.host) ?? (page.host.startsWith('www.') ? page.host.slice(4) : page.host);
  const paths: string[] = [];
  for (const list of [page.scripts, page.frames, page.assets, page.forms]) {
    for (const address of list) {
      const slash = address.indexOf('/');
      if (slash === 0) paths.push(address);
      else if (`.${address.slice(0, slash)}`.endsWith(`.${site}`) || statics.has(address.slice(0, slash)))
        paths.push(address.slice(slash));
    }
  }
  if (paths.length === 0) return;
  const all = paths.join('\n');
  for (const rule of index.find('paths', PART)) if (all.includes(rule.spelling)) take(rule, 'path', rule.spelling, true);
  for (const rule of index.find('paths', PATTERN)) {
    const found = paths.find(rule.matches);
    if (found !== undefined) take(rule, 'path', found, true);
  }
}

function findInMarkup(page: PageEvidence, find: Find): void {
  for (const name of page.elements) find('elements', name, 'markup', false, `<${name}>`);
  for (const name of page.attributes) find('markup', `data:${name}`, 'markup', false);
  for (const name of page.classes) find('markup', `class:${name}`, 'markup', false);
  for (const id of page.scriptIds) find('markup', id.startsWith('type:') ? id : `id:${id}`, 'markup', false);
}

const EXTENSION = /^cdn\.shopify\.com\/extensions\/[^/]+\/([a-z][a-z0-9-]*)\/assets\//;

function findApps(page: PageEvidence, find: Find): void {
  for (const handle of page.appBlocks) find('apps', handle, 'app', true);
  for (const handle of page.emptyAppBlocks) find('apps', handle, 'app', false);
  for (const address of page.scripts) {
    const name = EXTENSION.exec(address)?.[1];
    if (name === undefined) continue;
    const slug = withoutVersion(name);
    for (const key of [slug, `ext:${slug}`]) find('apps', key, 'app', true, address);
  }
  for (const pixel of page.webPixels) find('pixels', pixel, 'app', !pixel.startsWith('setting:'));
}

/** `reviews-v2-17` is a release of `reviews`. */
function withoutVersion(name: string): string {
  const parts = name.split('-');
  while (parts.length > 1 && /^v?\d+$/.test(parts.at(-1) ?? '')) parts.pop();
  return parts.join('-');
}

/** Only the published theme, never the preview of a draft. */
function findTheme({ facts }: PageEvidence, find: Find): void {
  if (facts['shopify.theme.role'] !== 'main') return;
  const { 'shopify.theme.schema_name': schema, 'shopify.theme.theme_store_id': id } = facts;
  if (schema === undefined) find('theme', `theme_store_id=${id}`, 'fact', true, 'theme_store_id');
  else find('theme', `schema_name=${schema}`, 'fact', true, schema);
}

/** Other hosts with styles, scripts and pictures of the page serve the site's own files. A vendor's host serves only scripts, or scripts and
 *  styles. */
function staticHosts(page: PageEvidence): Set<string> {
  const scripts = hostsOf(page.scripts);
  const images = hostsOf(page.images);
  return new Set([...hostsOf(page.assets)].filter((host) => scripts.has(host) && images.has(host)));
}

function hostsOf(addresses: readonly string[]): Set<string> {
  return new Set(
    addresses.filter((address) => !address.startsWith('/')).map((address) => address.slice(0, address.indexOf('/'))),
  );
}
