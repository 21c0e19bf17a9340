import type { BodyKind } from '../redaction.ts';

/** How a body of this content type is read for usage; undefined if it is not read. Compared without case (RFC 9110, 8.3.1). */
export function bodyKindOf(contentType: string = ''): BodyKind {
  const type = contentType.toLowerCase();
  if (type.includes('json')) return 'json';
  if (type.includes('text/event-stream')) return 'sse';
  return type.includes('multipart/form-data') ? 'form' : undefined;
}

/** A body's content coding for derivation: in lower case, '' for none. */
export function contentCodingOf(contentEncoding: string = ''): string {
  const coding = contentEncoding.trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
}
