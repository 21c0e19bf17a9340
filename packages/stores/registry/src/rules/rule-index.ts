import { spellingOf, strengthOf, type RulesBySlug, type Strength, type TechnologyRules } from '../technology.ts';
import { TECHNOLOGY_RULES } from '../vocabulary.ts';
import { LITERAL_VERSIONS, literalsOf, type LiteralVersions } from './literals.ts';

/** Ways by which a technology shows that can fail independently. `hint` is never a rule of its own: it comes from `loads`. */
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
}

/** A rule on the path or value that is found below its key. */
interface MatchedRule extends Rule {
  matches(text: string): boolean;
}

export interface AddressRule extends MatchedRule {
  readonly list: 'loads' | 'refers' | 'statics' | 'data' | 'links' | 'sites';
  readonly host: string;
}

type TextList = Exclude<{ [K in keyof TechnologyRules]: TechnologyRules[K] extends readonly string[] | undefined ? K : never }[keyof TechnologyRules], undefined | 'suppliedBy' | 'excludes'>; // prettier-ignore

/** Rules by what is looked up: hosts and names first, then values, parts of paths last. Built once per set of rules. */
export class RuleIndex {
  readonly rules: RulesBySlug;
  readonly ruleIds: string[] = [];
  readonly hosts = new Map<string, AddressRule[]>();
  readonly inline = new Map<string, Rule[]>();
  readonly settings = new Map<string, Rule[]>();
  readonly inlineIds: MatchedRule[] = [];
  readonly headers = new Map<string, MatchedRule[]>();
  readonly metas = new Map<string, MatchedRule[]>();
  readonly cookies = new Map<string, Rule[]>();
  readonly cookieStarts: MatchedRule[] = [];
  readonly paths: (Rule & { readonly part: string })[] = [];
  readonly pathPatterns: MatchedRule[] = [];
  readonly elements = new Map<string, Rule[]>();
  readonly markup = new Map<string, Rule[]>();
  readonly forms: MatchedRule[] = [];
  readonly apps = new Map<string, Rule[]>();
  readonly pixels = new Map<string, Rule[]>();
  readonly endpoints = new Map<string, Rule[]>();
  readonly themeSchemas = new Map<string, Rule>();
  readonly themeIds = new Map<string, Rule>();

  /** For each technology the version of literals that added the newest of its own. */
  readonly literalsSince = new Map<string, number>();

  constructor(rules: RulesBySlug, versions: LiteralVersions = LITERAL_VERSIONS) {
    this.rules = rules;
    for (const [slug, technology] of Object.entries(rules)) {
      this.#add(slug, technology);
      const since = literalsOf(technology).map((literal) => versions.since[literal] ?? versions.version);
      this.literalsSince.set(slug, Math.max(0, ...since));
    }
  }

  #add(slug: string, technology: TechnologyRules): void {
    const each = (list: TextList, usual: Strength, take: (spelling: string, rule: Rule) => void) => {
      for (const text of technology[list] ?? []) {
        const id = `${list} ${text}`;
        this.ruleIds.push(id);
        take(spellingOf(text), { slug, id, strength: strengthOf(text, usual) });
      }
    };
    each('loads', 'strong', (text, rule) => this.#addAddress(text, rule, 'loads'));
    for (const list of ['refers', 'statics', 'data', 'links'] as const)
      each(list, 'weak', (text, rule) => this.#addAddress(text, rule, list));
    each('sites', 'strong', (text, rule) => this.#addAddress(text, rule, 'sites'));
    each('inline', 'strong', (text, rule) => {
      if (text.startsWith('id:')) this.inlineIds.push({ ...rule, matches: (id) => id.startsWith(text.slice(3)) });
      else push(this.inline, text, rule);
    });
    each('settings', 'weak', (text, rule) => push(this.settings, text, rule));
    each('headers', 'strong', (text, rule) => addValue(this.headers, text, rule));
    each('metas', 'strong', (text, rule) => addValue(this.metas, text, rule));
    each('cookies', 'strong', (text, rule) => {
      if (text.endsWith('*')) this.cookieStarts.push({ ...rule, matches: (name) => name.startsWith(text.slice(0, -1)) });
      else push(this.cookies, text, rule);
    });
    each('paths', 'strong', (text, rule) => {
      if (text.startsWith('^')) this.pathPatterns.push({ ...rule, matches: patternOf(text) });
      else this.paths.push({ ...rule, part: text });
    });
    each('elements', 'strong', (text, rule) => push(this.elements, text, rule));
    each('markup', 'weak', (text, rule) => {
      if (text.startsWith('form:')) this.forms.push({ ...rule, matches: (address) => address.includes(text.slice(5)) });
      else push(this.markup, text, rule);
    });
    each('apps', 'strong', (text, rule) => push(this.apps, text, rule));
    each('pixels', 'strong', (text, rule) => push(this.pixels, text, rule));
    each('endpoints', 'strong', (text, rule) => push(this.endpoints, text, rule));
    if (technology.theme !== undefined) {
      const { schema, id } = technology.theme;
      const bySchema: Rule = { slug, id: `theme schema_name=${schema}`, strength: 'strong' };
      const byId: Rule = { slug, id: `theme theme_store_id=${id}`, strength: 'strong' };
      this.ruleIds.push(bySchema.id, byId.id);
      this.themeSchemas.set(schema, bySchema);
      this.themeIds.set(String(id), byId);
    }
  }

  #addAddress(text: string, rule: Rule, list: AddressRule['list']): void {
    const end = text.search(/[/ ]/);
    const host = end === -1 ? text : text.slice(0, end);
    push(this.hosts, host, { ...rule, list, host, matches: end === -1 ? () => true : pathMatcher(text.slice(end).trimStart()) });
  }
}

function addValue(rules: Map<string, MatchedRule[]>, text: string, rule: Rule): void {
  const colon = text.indexOf(':', 1);
  const name = colon === -1 ? text : text.slice(0, colon);
  const value = text.slice(name.length + 1);
  // Names of metas have colons too: `p:domain_verify` and `oke:subscriber_id` are names where no value could follow.
  if (/^(?:p|oke)$/.test(name)) push(rules, text, { ...rule, matches: () => true });
  else push(rules, name, { ...rule, matches: colon === -1 ? () => true : valueMatcher(value) });
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

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

/** The rules in force, indexed once per process. */
export const REGISTRY_INDEX: RuleIndex = new RuleIndex(TECHNOLOGY_RULES);
