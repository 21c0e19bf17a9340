import { findAssignedSecrets } from './credentials/assigned-secrets.ts';
import { findBearerTokens } from './credentials/bearer-tokens.ts';
import { findPrivateKeys } from './credentials/private-keys.ts';
import { findTokens } from './credentials/tokens.ts';
import { editedText, mergedSpans, type Span } from './text-edit.ts';
import { TextPrefilter } from './text-prefilter.ts';
import { findUnescaped } from './credentials/unescaped-text.ts';
import { findUrlPasswords } from './credentials/url-passwords.ts';
import { REDACTED } from './header-lines.ts';

/** The replacement for a credential in logs, spans, stored bodies and errors. Spec: G13.2. */
export const CREDENTIAL_REDACTED = '[CREDENTIAL_REDACTED]';

// Most texts contain no credential, which this check detects at a fraction of the cost.
const prefilter = new TextPrefilter({ detectors: ['token_like'] });
/** The same for a text with escapes that are decoded anyway. */
const wordPrefilter = new TextPrefilter({ detectors: ['token_like'], withEscapes: false });

// The beginning of JSON, or of an event stream line with JSON. `[INFO] ` and `{name` begin other texts.
const JSON_BEGINS =
  /^\s{0,64}(?:data:\s{0,8})?(?:\{\s{0,64}["}]|\[\s{0,64}(?:["{[\]]|(?:-?\d+(?:\.\d+)?|true|false|null)\s{0,64}[,\]]))/;

/** The text with every recognised credential replaced, and how many there were.
 *  Recognised: tokens with a known prefix and JWTs (`tokens.ts`), bearer tokens, private keys in PEM, passwords in URLs, and the values of
 *  `password=`, `secret=`, `token=` (`assigned-secrets.ts`); all of them also percent-encoded and in JSON's escapes. Scrubbing JSON text leaves JSON.
 *  Spec: G13.1 to G13.4, G13.10, G13.11. */
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
  return [
    ...findTokens(text),
    ...findBearerTokens(text),
    ...findAssignedSecrets(text, { isJson, withMembers }),
    ...findUrlPasswords(text),
    ...findPrivateKeys(text, isJson),
  ];
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
