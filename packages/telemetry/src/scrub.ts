import { TextSieve } from './text-sieve.ts';

/** What stands in the place of a credential in logs, spans, stored bodies and errors. Spec: gateway, Credential scrubbing. */
export const CREDENTIAL_REDACTED = '[CREDENTIAL_REDACTED]';

/** A part of a text, from one index up to another. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

// Where a word may begin: not behind a letter or a digit, unless that is the end of an escape in JSON text ("\nsk-...").
const BEGINS = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]|\\u[0-9A-Fa-f]{4}))`;

// One pass over the text. No alternative can match a quote or a backslash, so scrubbing JSON text leaves JSON.
// The prefix alternatives ask for six more characters, or "sk-" in prose and "pk_id" in a schema would vanish too. Lookbehinds
// are bounded: an unbounded one made a megabyte of spaces cost minutes.
const CREDENTIALS = new RegExp(
  [
    `${BEGINS}(?:sk[-_]|[pr]k_|xox[a-z][-_]|gh[oprsu]_|github_pat_|pat_|sgk_|svc_live_)[A-Za-z0-9_-]{6,}`,
    String.raw`${BEGINS}(?<![_-])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`,
    '(?<=(?:[Bb]earer|BEARER) {1,8})[A-Za-z0-9._~+/=-]{6,}',
    String.raw`(?<=(?:[Pp]assword|PASSWORD|[Ss]ecret|SECRET|[Tt]oken|TOKEN)=)(?!\[(?:CREDENTIAL_)?REDACTED\])[^\s&;,"'\\]+`,
  ].join('|'),
  'g',
);

/** One of these stands in every text that holds a credential: what a sieve has to look for. */
export const CREDENTIAL_WORDS: readonly string[] =
  'sk- sk_ pk_ rk_ sgk_ pat_ svc_live_ xox gho_ ghp_ ghr_ ghs_ ghu_ eyJ bearer password= secret= token='.split(' ');

// Most texts hold none of them, and this tells so at a tenth of the cost.
const sieve = new TextSieve({ words: CREDENTIAL_WORDS });

/** The text with every recognised credential replaced, and how many there were.
 *  Recognised: `sk-`, `sk-proj-`, `sk-ant-`, `sk_`, `pk_`, `rk_`, `xoxb-`, `ghp_`, `github_pat_`, `pat_`, `sgk_`, `svc_live_`
 *  tokens, JWTs, bearer tokens, and the values of `password=`, `secret=`, `token=`.
 *  Spec: gateway, Credential scrubbing; decisions, section 6. */
export function scrub(text: string, replacement: string = CREDENTIAL_REDACTED): { text: string; count: number } {
  if (!sieve.catches(text)) return { text, count: 0 };
  let count = 0;
  const scrubbed = text.replace(CREDENTIALS, () => {
    count += 1;
    return replacement;
  });
  return { text: scrubbed, count };
}

/** Where credentials stand in a text, in their order: what `scrub` would replace. */
export function findCredentials(text: string): Span[] {
  return Array.from(text.matchAll(CREDENTIALS), ({ index, 0: found }) => ({ start: index, end: index + found.length }));
}
