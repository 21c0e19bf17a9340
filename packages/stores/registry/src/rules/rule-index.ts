import { spellingOf, strengthOf, type RulesBySlug, type Strength, type TechnologyRules, CATEGORIES } from '../technology.ts';
import { TECHNOLOGY_RULES, VOCABULARY } from '../vocabulary.ts';
import { LITERAL_VERSIONS, literalsOf, type LiteralVersions } from './literals.ts';
import { createHash } from 'node:crypto';
import { PUBLIC_SUFFIX_LIST, TENANT_SUFFIXES } from '../registrable-domain.ts';

/** Channels of evidence for a technology that can fail independently. `hint` has no rules of its own and is derived from `loads`. */
export const CHANNELS = [
  'host', 'inline', 'asset', 'data', 'header', 'cookie', 'meta', 'path', 'markup', 'app', 'fact', 'site', 'endpoint', 'link', 'hint',
] as const; // prettier-ignore
export type Channel = (typeof CHANNELS)[number];

/** One text of one technology. */
export interface Rule {
  readonly slug: string;
  /** As in `TechnologyRules`, with the sign of its strength and the name of its list: `loads js.stripe.com`. */
  readonly id: string;
  readonly strength: Strength;
  readonly list: RuleList;
  /** Without the sign of its strength. */
  readonly spelling: string;
  /** The lookup key: a host, a name, a field of a theme with its value, `PATTERN` or `PART`. */
  readonly key: string;
  /** Test for the path or value found with the key. */
  readonly matches: (text: string) => boolean;
}

/** The key of rules that are matched against each text of the evidence. */
export const PATTERN = '*';
/** The key of rules for a part of a path. All of them are searched in all paths at once. */
export const PART = '';

/** Lists of `TechnologyRules` with texts, and the two texts of a theme. */
const LISTS = [
  'loads', 'refers', 'statics', 'data', 'links', 'sites', 'inline', 'settings', 'headers', 'metas', 'cookies', 'paths', 'elements', 'markup', 'apps', 'pixels', 'endpoints', 'theme',
] as const; // prettier-ignore
type RuleList = (typeof LISTS)[number];
const ADDRESSES = new Set<RuleList>(['loads', 'refers', 'statics', 'data', 'links', 'sites']);
/** Lists whose texts are weak unless a sign says otherwise. */
const WEAK = new Set<RuleList>(['refers', 'statics', 'data', 'links', 'settings', 'markup']);

/** Rules by lookup key. Built once per set of rules. */
export class RuleIndex {
  readonly rules: RulesBySlug;
  readonly ruleIds: string[] = [];
  /** For each technology, the version of its newest literal. */
  readonly literalsSince = new Map<string, number>();
  readonly #hosts = new Map<string, Rule[]>();
  readonly #lists = Object.fromEntries(LISTS.map((list) => [list, new Map()])) as Record<RuleList, Map<string, Rule[]>>;

  constructor(rules: RulesBySlug, versions: LiteralVersions = LITERAL_VERSIONS) {
    this.rules = rules;
    for (const [slug, technology] of Object.entries(rules)) {
      for (const list of LISTS) for (const text of textsOf(technology, list)) this.#add(slug, list, text);
      const since = literalsOf(technology).map((literal) => versions.since[literal] ?? versions.version);
      this.literalsSince.set(slug, Math.max(0, ...since));
    }
  }

  /** The rules of a list that have this key. */
  find(list: RuleList, key: string): readonly Rule[] {
    return this.#lists[list].get(key) ?? [];
  }

  /** The address rules of all lists that have exactly this host. */
  findHost(host: string): readonly Rule[] {
    return this.#hosts.get(host) ?? [];
  }

  #add(slug: string, list: RuleList, text: string): void {
    const id = `${list} ${text}`;
    this.ruleIds.push(id);
    const strength = strengthOf(text, WEAK.has(list) ? 'weak' : 'strong');
    const spelling = spellingOf(text);
    const rule: Rule = { slug, id, strength, list, spelling, matches: () => true, ...keyOf(list, spelling) };
    const rules = ADDRESSES.has(list) ? this.#hosts : this.#lists[list];
    rules.set(rule.key, [...(rules.get(rule.key) ?? []), rule]);
  }
}

function textsOf({ theme, ...rules }: TechnologyRules, list: RuleList): readonly string[] {
  if (list !== 'theme') return rules[list] ?? [];
  return theme === undefined ? [] : [`schema_name=${theme.schema}`, `theme_store_id=${theme.id}`];
}

type RuleKey = Pick<Rule, 'key'> & Partial<Pick<Rule, 'matches'>>;

function keyOf(list: RuleList, text: string): RuleKey {
  if (ADDRESSES.has(list)) return addressKey(text);
  if (list === 'headers' || list === 'metas') return valueKey(text);
  if (list === 'paths') return text.startsWith('^') ? { key: PATTERN, matches: patternOf(text) } : { key: PART };
  if (list === 'inline' && text.startsWith('id:')) return { key: PATTERN, matches: (id) => id.startsWith(text.slice(3)) };
  if (list === 'cookies' && text.endsWith('*')) return { key: PATTERN, matches: (name) => name.startsWith(text.slice(0, -1)) };
  if (list === 'markup' && text.startsWith('form:')) return { key: PATTERN, matches: (form) => form.includes(text.slice(5)) };
  return { key: text };
}

function addressKey(text: string): RuleKey {
  const end = text.search(/[/ ]/);
  return end === -1 ? { key: text } : { key: text.slice(0, end), matches: pathMatcher(text.slice(end).trimStart()) };
}

function valueKey(text: string): RuleKey {
  const colon = text.indexOf(':', 1);
  const name = colon === -1 ? text : text.slice(0, colon);
  // Names of metas have colons too: `p:domain_verify` and `oke:subscriber_id` are names that cannot have a value.
  if (colon === -1 || /^(?:p|oke)$/.test(name)) return { key: text };
  return { key: name, matches: valueMatcher(text.slice(colon + 1)) };
}

function valueMatcher(value: string): (text: string) => boolean {
  if (value.startsWith('*')) return (text) => text.toLowerCase().includes(value.slice(1));
  // Metas of one name are lines of one value.
  return (text) => text.toLowerCase().split('\n').some((line) => line.startsWith(value)); // prettier-ignore
}

function pathMatcher(text: string): (path: string) => boolean {
  if (text.startsWith('^')) return patternOf(text);
  if (text.startsWith('*')) return (path) => path.includes(text.slice(1));
  return (path) => path.startsWith(text);
}

/** Paths are at most 200 long, and patterns are anchored. */
function patternOf(text: string): (path: string) => boolean {
  const pattern = new RegExp(text);
  return (path) => pattern.test(path);
}

/** The rules in force, indexed once per process. */
export const REGISTRY_INDEX: RuleIndex = new RuleIndex(TECHNOLOGY_RULES);

/** Everything that decides what a domain is and what can be detected on it, in one order whatever the order of the sources. */
function canonicalRegistry(): string {
  return JSON.stringify({
    categories: Object.entries(CATEGORIES).toSorted(byKey),
    technologies: VOCABULARY,
    rules: Object.entries(TECHNOLOGY_RULES)
      .toSorted(byKey)
      .map(([slug, rules]) => [slug, Object.entries(rules).toSorted(byKey)]),
    literals: LITERAL_VERSIONS,
    tenant_suffixes: TENANT_SUFFIXES.toSorted(),
    public_suffix_list: PUBLIC_SUFFIX_LIST,
  });
}

/** `registry_checksum` of Health: `sha256:` and hex. Spec: S2.34, S11.5. */
export const REGISTRY_CHECKSUM: string = `sha256:${createHash('sha256').update(canonicalRegistry()).digest('hex')}`;

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
