import type { BodyKind } from '../redaction.ts';

/** How a body of this content type is read for usage; undefined: not at all. Compared without case (RFC 9110, 8.3.1); what almost all
 *  send is found without changing it. */
export function bodyKindOf(contentType: string | undefined): BodyKind {
  return contentType === undefined ? undefined : (kindIn(contentType) ?? kindIn(contentType.toLowerCase()));
}

/** A body's content coding as the trace's maker reads it: in lower case, '' for none. */
export function contentCodingOf(contentEncoding: string | undefined): string {
  if (contentEncoding === undefined) return '';
  const coding = contentEncoding.trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
}

function kindIn(contentType: string): BodyKind {
  if (contentType.includes('json')) return 'json';
  return contentType.includes('text/event-stream') ? 'sse' : undefined;
}
