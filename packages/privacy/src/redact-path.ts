import { findCredentials, scrub } from './scrub.ts';
import { mergedSpans, replacedSpans, type Span } from './text-span.ts';
import { findUnescaped } from './unescaped-text.ts';
import { REDACTED } from './header-lines.ts';

const SECRET_NAME = '(?:key|token|secret|password|auth|sig|signature|credential)=';
const SECRET_PARAMETER = new RegExp(`(?<=[?&][^=&]*${SECRET_NAME})(?!\\[REDACTED\\])[^&]+`, 'gi');
/** Most queries have none, which this finds in half the time. */
const HAS_SECRET_NAME = new RegExp(SECRET_NAME, 'i');
const QUERY = /\?.*/s;

/** A request path as it may be stored: whatever looks like a credential is redacted, and so are the values of query parameters
 *  that are named like one, also where names and values are percent-encoded. Spec: gateway decisions, section 1, `request_path`. */
export function redactPath(path: string): { text: string; count: number } {
  if (!path.includes('?') && !path.includes('%')) return scrub(path, REDACTED);
  const found = [...findCredentials(path), ...findUnescaped(path, findParameters)];
  // In a query a plus is a blank.
  if (path.includes('+')) found.push(...findCredentials(path.replace(QUERY, (query) => query.replaceAll('+', ' '))));
  const spans = mergedSpans(found);
  return { text: replacedSpans(path, spans, REDACTED), count: spans.length };
}

function findParameters(text: string): Span[] {
  if (!HAS_SECRET_NAME.test(text)) return [];
  return Array.from(text.matchAll(SECRET_PARAMETER), ({ index, 0: value }) => ({ start: index, end: index + value.length }));
}
