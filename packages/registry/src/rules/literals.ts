import { InlineLiterals } from './inline-literals.ts';

/** Raised with every literal that is added, so that evidence from before it is not taken as evidence of its absence. */
export const LITERALS_VERSION = 1;

export const INLINE_LITERALS: InlineLiterals = new InlineLiterals(['Shopify.shop=', "fbq('init"]);
