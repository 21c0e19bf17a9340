import { createHash } from 'node:crypto';
import { CATEGORIES } from './categories.ts';
import { PUBLIC_SUFFIX_LIST, TENANT_SUFFIXES } from './registrable-domain.ts';
import { LITERAL_VERSIONS } from './rules/literals.ts';
import { TECHNOLOGY_RULES, VOCABULARY } from './vocabulary.ts';

/** Everything that determines domains and detections, in a fixed order that is independent of the sources. */
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
