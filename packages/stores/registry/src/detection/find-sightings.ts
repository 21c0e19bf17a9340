import type { PageEvidence, StoreEvidence } from '../evidence/evidence.ts';
import type { Channel, Rule, RuleIndex } from '../rules/rule-index.ts';
import { registrableDomain } from '../registrable-domain.ts';
import { AddressSightings, type Take } from './address-sightings.ts';

/** A page class of evidence, or `endpoint` for documents. */
type SightingPlace = PageEvidence['pageClass'] | 'endpoint';

/** That a rule matched. */
export interface Sighting {
  readonly place: SightingPlace;
  readonly channel: Channel;
  readonly rule: Rule;
  /** What matched, as the evidence has it. */
  readonly found: string;
  /** Whether it was loading: an executed script, an answer of its server; not a style, a class or an empty block. */
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
    for (const rule of index.endpoints.get(name) ?? []) {
      sightings.push({ place: 'endpoint', channel: 'endpoint', rule, found: name, loads: true });
    }
  }
  return sightings;
}

function findOnPage(page: PageEvidence, index: RuleIndex, addresses: AddressSightings, take: Take): void {
  const statics = staticHosts(page);
  addresses.find(page, statics, take);
  findInCode(page, index, take);
  findInResponse(page, index, take);
  findInPaths(page, statics, index, take);
  findInMarkup(page, index, take);
  findApps(page, index, take);
  findTheme(page, index, take);
}

function findInCode(page: PageEvidence, index: RuleIndex, take: Take): void {
  for (const name of page.inlineNames) {
    for (const rule of index.inline.get(name) ?? []) take(rule, 'inline', name, true);
    for (const rule of index.settings.get(name) ?? []) take(rule, 'inline', name, false);
  }
  for (const found of page.inlineIds) {
    const isInJson = found.startsWith('json:');
    const id = isInJson ? found.slice('json:'.length) : found;
    for (const rule of index.inlineIds) if (rule.matches(id)) take(rule, 'inline', found, !isInJson);
  }
}

function findInResponse(page: PageEvidence, index: RuleIndex, take: Take): void {
  for (const [name, value] of Object.entries(page.headers)) {
    for (const rule of index.headers.get(name) ?? []) if (rule.matches(value)) take(rule, 'header', name, true);
  }
  for (const [name, value] of Object.entries(page.metas)) {
    for (const rule of index.metas.get(name) ?? []) if (rule.matches(value)) take(rule, 'meta', name, false);
  }
  for (const name of page.cookies) {
    for (const rule of index.cookies.get(name) ?? []) take(rule, 'cookie', name, true);
    for (const rule of index.cookieStarts) if (rule.matches(name)) take(rule, 'cookie', name, true);
  }
}

/** Parts are looked for in all paths of the site at once: one search per rule, not one per path. */
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
  for (const rule of index.paths) if (all.includes(rule.part)) take(rule, 'path', rule.part, true);
  for (const rule of index.pathPatterns) {
    const found = paths.find((path) => rule.matches(path));
    if (found !== undefined) take(rule, 'path', found, true);
  }
}

function findInMarkup(page: PageEvidence, index: RuleIndex, take: Take): void {
  for (const name of page.elements) for (const rule of index.elements.get(name) ?? []) take(rule, 'markup', `<${name}>`, false);
  const look = (key: string) => {
    const rules = index.markup.get(key);
    if (rules !== undefined) for (const rule of rules) take(rule, 'markup', key, false);
  };
  for (const name of page.attributes) look(`data:${name}`);
  for (const name of page.classes) look(`class:${name}`);
  for (const id of page.scriptIds) look(id.startsWith('type:') ? id : `id:${id}`);
  for (const rule of index.forms) {
    const found = page.forms.find((address) => rule.matches(address));
    if (found !== undefined) take(rule, 'markup', found, false);
  }
}

const EXTENSION = /^cdn\.shopify\.com\/extensions\/[^/]+\/([a-z][a-z0-9-]*)\/assets\//;

function findApps(page: PageEvidence, index: RuleIndex, take: Take): void {
  for (const handle of page.appBlocks) for (const rule of index.apps.get(handle) ?? []) take(rule, 'app', handle, true);
  for (const handle of page.emptyAppBlocks) for (const rule of index.apps.get(handle) ?? []) take(rule, 'app', handle, false);
  for (const address of page.scripts) {
    const name = address.startsWith('cdn.shopify.com/extensions/') ? EXTENSION.exec(address)?.[1] : undefined;
    if (name === undefined) continue;
    const slug = withoutVersion(name);
    for (const key of [slug, `ext:${slug}`]) for (const rule of index.apps.get(key) ?? []) take(rule, 'app', address, true);
  }
  for (const pixel of page.webPixels) {
    for (const rule of index.pixels.get(pixel) ?? []) take(rule, 'app', pixel, !pixel.startsWith('setting:'));
  }
}

/** `reviews-v2-17` is a release of `reviews`. */
function withoutVersion(name: string): string {
  const parts = name.split('-');
  while (parts.length > 1 && /^v?\d+$/.test(parts.at(-1) ?? '')) parts.pop();
  return parts.join('-');
}

/** Only the theme that visitors see, never a draft that somebody previews. */
function findTheme({ facts }: PageEvidence, index: RuleIndex, take: Take): void {
  if (facts['shopify.theme.role'] !== 'main') return;
  const schema = facts['shopify.theme.schema_name'];
  const rule =
    schema === undefined ? index.themeIds.get(facts['shopify.theme.theme_store_id'] ?? '') : index.themeSchemas.get(schema);
  if (rule !== undefined) take(rule, 'fact', schema ?? 'theme_store_id', true);
}

/** Other hosts that have styles, scripts and pictures of the page: they have the site's own files. A vendor's host has scripts alone, or scripts and styles. */
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
