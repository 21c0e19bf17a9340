import type { BodyKind } from '@vitrine/traces/captured-exchange';

/** How a body of this content type is read for usage; undefined: not at all. */
export function bodyKindOf(contentType: string | undefined): BodyKind {
  if (contentType === undefined) return undefined;
  if (contentType.includes('json')) return 'json';
  return contentType.includes('text/event-stream') ? 'sse' : undefined;
}
