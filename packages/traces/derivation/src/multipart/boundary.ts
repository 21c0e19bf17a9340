import { headerParameters } from './header-parameters.ts';

/** Printable ASCII without a blank at its end: more than RFC 2046 (5.1.1) allows, because clients take liberties, but no longer. */
const BOUNDARY = /^[ -~]{0,69}[!-~]$/;

/** The boundary of a `multipart/form-data` body; undefined for other content types and without a valid boundary. */
export function boundaryOf(contentType: string = ''): string | undefined {
  if (!/^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType)) return undefined;
  const boundary = headerParameters(contentType).get('boundary');
  return boundary !== undefined && BOUNDARY.test(boundary) ? boundary : undefined;
}
