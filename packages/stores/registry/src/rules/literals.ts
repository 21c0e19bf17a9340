import { readFileSync } from 'node:fs';
import { spellingOf, type RulesBySlug, type TechnologyRules } from '../technology.ts';
import { TECHNOLOGY_RULES } from '../vocabulary.ts';
import { InlineLiterals } from './inline-literals.ts';

/** The version of the set of literals, and for each literal the version that added it. Evidence records the version used for reading. It contains
 *  no information about literals added later. */
export interface LiteralVersions {
  readonly version: number;
  readonly since: Readonly<Record<string, number>>;
}

/** Literals of inline scripts in a technology's rules. Ids of tags are found by their form, so they need no version. */
export function literalsOf({ inline = [], settings = [] }: TechnologyRules): string[] {
  return [...inline, ...settings].map(spellingOf).filter((spelling) => !spelling.startsWith('id:'));
}

/** The versions after a change of rules: new literals get the next version, and literals that no rule has any more lose theirs. */
export function nextLiteralVersions(recorded: LiteralVersions, rules: RulesBySlug): LiteralVersions {
  const literals = [...new Set(Object.values(rules).flatMap(literalsOf))].toSorted();
  const version = literals.every((literal) => Object.hasOwn(recorded.since, literal)) ? recorded.version : recorded.version + 1;
  return { version, since: Object.fromEntries(literals.map((literal) => [literal, recorded.since[literal] ?? version])) };
}

const RECORDED = JSON.parse(readFileSync(new URL('./literal-versions.json', import.meta.url), 'utf8')) as LiteralVersions;

/** `literal-versions.json` is written by `npm run golden`, and a test fails while it lacks a literal. */
export const LITERAL_VERSIONS: LiteralVersions = nextLiteralVersions(RECORDED, TECHNOLOGY_RULES);

export const INLINE_LITERALS: InlineLiterals = new InlineLiterals(Object.keys(LITERAL_VERSIONS.since));
