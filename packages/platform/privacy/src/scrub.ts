import { findAssignedSecrets } from './credentials/assigned-secrets.ts';
import { findBearerTokens } from './credentials/bearer-tokens.ts';
import { editedText, mergedSpans, type Span } from './text-edit.ts';
import { TextPrefilter } from './text-prefilter.ts';
import { findUnescaped } from './credentials/unescaped-text.ts';
import { REDACTED } from './header-lines.ts';

/** The replacement for a credential in logs, spans, stored bodies and errors. Spec: G13.2. */
export const CREDENTIAL_REDACTED = '[CREDENTIAL_REDACTED]';

// The start of a word: not after a letter or a digit, unless that is the end of an escape in JSON text ("\nsk-...").
const BEGINS = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]|\\u[0-9A-Fa-f]{4}))`;

// No alternative can match a quote or a backslash, so scrubbing JSON text leaves JSON.
// The prefix alternatives require six more characters, or "sk-" in prose and "pk_id" in a schema would vanish too. Lookbehinds
// are bounded: an unbounded one made a megabyte of spaces cost minutes.
const TOKENS = new RegExp(
  [
    `${BEGINS}(?:sk[-_]|[pr]k_|xox[a-z][-_]|gh[oprsu]_|github_pat_|pat_|[so]gk_|svc_live_)[A-Za-z0-9_-]{6,}`,
    String.raw`${BEGINS}(?<![_-])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`,
  ].join('|'),
  'g',
);

// Most texts contain no credential, which this check detects at a fraction of the cost.
const prefilter = new TextPrefilter({ detectors: ['token_like'] });
/** The same for a text with escapes that are decoded anyway. */
const wordPrefilter = new TextPrefilter({ detectors: ['token_like'], withEscapes: false });

// The beginning of JSON, or of an event stream line with JSON. `[INFO] ` and `{name` begin other texts.
const JSON_BEGINS =
  /^\s{0,64}(?:data:\s{0,8})?(?:\{\s{0,64}["}]|\[\s{0,64}(?:["{[\]]|(?:-?\d+(?:\.\d+)?|true|false|null)\s{0,64}[,\]]))/;

/** The text with every recognised credential replaced, and how many there were.
 *  Recognised: `sk-`, `sk-proj-`, `sk-ant-`, `sk_`, `pk_`, `rk_`, `xoxb-`, `ghp_`, `github_pat_`, `pat_`, `sgk_`, `ogk_`, `svc_live_`
 *  tokens, JWTs, bearer tokens, and the values of `password=`, `secret=`, `token=` (`assigned-secrets.ts`); all of them also
 *  percent-encoded and in JSON's escapes. Scrubbing JSON text leaves JSON.
 *  Spec: G13.1 to G13.4. */
export function scrub(text: string, replacement: string = CREDENTIAL_REDACTED): { text: string; count: number } {
  if (!prefilter.mayMatch(text)) return { text, count: 0 };
  const found = findIn(text, true);
  return { text: replaced(text, found, replacement), count: found.length };
}

/** The spans of credentials in a text, in order: what `scrub` would replace. `withMembers: false` omits JSON members named like a credential, for
 *  callers with their own rules for those. */
export function findCredentials(text: string, { withMembers = true }: { withMembers?: boolean } = {}): Span[] {
  return prefilter.mayMatch(text) ? findIn(text, withMembers) : [];
}

/** Whether a text begins like JSON, in which a quote without a backslash ends a string. */
export function isJsonText(text: string): boolean {
  return JSON_BEGINS.test(text);
}

function findIn(text: string, withMembers: boolean): Span[] {
  const isJson = isJsonText(text);
  return findUnescaped(text, (written) => findWritten(written, isJson, withMembers));
}

function findWritten(text: string, isJson: boolean, withMembers: boolean): Span[] {
  if (!wordPrefilter.mayMatch(text)) return [];
  const found = [...findBearerTokens(text), ...findAssignedSecrets(text, { isJson, withMembers })];
  TOKENS.lastIndex = 0;
  for (let token = TOKENS.exec(text); token !== null; token = TOKENS.exec(text))
    found.push({ start: token.index, end: TOKENS.lastIndex });
  return found;
}

const SECRET_NAME = '(?:key|token|secret|password|auth|sig|signature|credential)=';
const SECRET_PARAMETER = new RegExp(`(?<=[?&][^=&]*${SECRET_NAME})(?!\\[REDACTED\\])[^&]+`, 'gi');
/** Most queries have none, which this check detects in half the time. */
const HAS_SECRET_NAME = new RegExp(SECRET_NAME, 'i');
const QUERY = /\?.*/s;

/** A request path that may be stored: texts that look like a credential are redacted, and so are the values of query parameters named like one,
 *  also where names and values are percent-encoded. Spec: G4.6. */
export function redactPath(path: string): { text: string; count: number } {
  if (!path.includes('?') && !path.includes('%')) return scrub(path, REDACTED);
  const found = [...findCredentials(path), ...findUnescaped(path, findParameters)];
  // In a query a plus is a blank.
  if (path.includes('+')) found.push(...findCredentials(path.replace(QUERY, (query) => query.replaceAll('+', ' '))));
  const spans = mergedSpans(found);
  return { text: replaced(path, spans, REDACTED), count: spans.length };
}

function findParameters(text: string): Span[] {
  if (!HAS_SECRET_NAME.test(text)) return [];
  return Array.from(text.matchAll(SECRET_PARAMETER), ({ index, 0: value }) => ({ start: index, end: index + value.length }));
}

function replaced(text: string, spans: readonly Span[], replacement: string): string {
  return editedText(
    text,
    spans.map((span) => ({ ...span, text: replacement })),
  );
}
