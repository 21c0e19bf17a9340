import { createHash } from 'node:crypto';
import { CATEGORIES } from './categories.ts';
import { PUBLIC_SUFFIX_LIST } from './registrable-domain.ts';
import { TENANT_SUFFIXES } from './tenant-suffixes.ts';
import { VOCABULARY } from './vocabulary.ts';

/** Everything that decides what a domain is and what can be detected on it, in one order whatever the order of the sources. */
export function canonicalRegistry(): string {
  return JSON.stringify({
    categories: Object.entries(CATEGORIES).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    technologies: VOCABULARY,
    tenant_suffixes: TENANT_SUFFIXES.toSorted(),
    public_suffix_list: PUBLIC_SUFFIX_LIST,
  });
}

/** `registry_checksum` of Health: `sha256:` and hex. Spec: Discovery shapes; decisions, section 1. */
export const REGISTRY_CHECKSUM: string = `sha256:${createHash('sha256').update(canonicalRegistry()).digest('hex')}`;
