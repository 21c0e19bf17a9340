import { TECHNOLOGY_RULES } from './registry-rules.ts';
import { RuleIndex } from './rule-index.ts';

/** The rules in force, indexed once per process. */
export const REGISTRY_INDEX: RuleIndex = new RuleIndex(TECHNOLOGY_RULES);
