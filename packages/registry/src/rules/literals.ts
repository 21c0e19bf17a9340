import { InlineLiterals } from './inline-literals.ts';
import { spellingOf } from './rule-text.ts';
import { TECHNOLOGY_RULES } from './registry-rules.ts';

/** Raised with every literal that is added, together with `literalsSince` of its technology: evidence from before says nothing about it. */
export const LITERALS_VERSION = 3;

const inlineTexts = Object.values(TECHNOLOGY_RULES).flatMap(({ inline = [], settings = [] }) => [...inline, ...settings]);

export const INLINE_LITERALS: InlineLiterals = new InlineLiterals(
  inlineTexts.map((text) => spellingOf(text)).filter((spelling) => !spelling.startsWith('id:')),
);
