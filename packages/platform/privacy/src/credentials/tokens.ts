import type { Span } from '../text-edit.ts';

// The start of a word: not after a letter or a digit, unless that is the end of an escape in JSON text ("\nsk-...").
const BEGINS = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]|\\u[0-9A-Fa-f]{4}))`;

// Prefixes that nothing else has require six more characters, or "sk-" in prose and "pk_id" in a schema would vanish too. Prefixes that begin
// identifiers (`hf_hub_download`, `npm_config_registry`) or occur in base64 require the length and the alphabet of the real tokens.
const FORMS = [
  String.raw`sk[-_][\w-]{6,}`,
  String.raw`[pr]k_[\w-]{6,}`,
  String.raw`xox[a-z][-_][\w-]{6,}`,
  String.raw`gh[oprsu]_[\w-]{6,}`,
  String.raw`github_pat_[\w-]{6,}`,
  String.raw`pat_[\w-]{6,}`,
  String.raw`[so]gk_[\w-]{6,}`,
  String.raw`svc_live_[\w-]{6,}`,
  String.raw`glpat-[\w-]{16,}`,
  String.raw`hf_[A-Za-z0-9]{24,}`,
  String.raw`npm_[A-Za-z0-9]{20,}`,
  String.raw`gsk_[A-Za-z0-9]{20,}`,
  String.raw`xai-(?:token-)?[A-Za-z0-9]{20,}`,
  String.raw`A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])`,
  String.raw`AIzaSy[\w-]{6,}`,
  String.raw`AIza[\w-]{35}(?![\w-])`,
  String.raw`SG\.[\w-]{16,32}\.[\w-]{32,}`,
  String.raw`(?<![_-])eyJ[\w-]+\.[\w-]+\.[\w-]+`,
];

// No form can match a quote or a backslash, so scrubbing JSON text leaves JSON. Lookbehinds are bounded: an unbounded one made a megabyte of
// spaces cost minutes. Each alternative checks the start of a word, because V8 skips to their prefixes three times as fast as to one check
// before all of them.
const TOKENS = new RegExp(FORMS.map((form) => BEGINS + form).join('|'), 'g');

/** Tokens with a known prefix, and JWTs, at the start of a word. Spec: G13.3, G13.4. */
export function findTokens(text: string): Span[] {
  const found: Span[] = [];
  TOKENS.lastIndex = 0;
  for (let token = TOKENS.exec(text); token !== null; token = TOKENS.exec(text))
    found.push({ start: token.index, end: TOKENS.lastIndex });
  return found;
}
