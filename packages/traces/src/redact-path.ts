import { scrub } from '@vitrine/telemetry/scrub';
import { REDACTED } from './header-lines.ts';

const SECRET_PARAMETER = /(?<=[?&][^=&]*(?:key|token|secret|password|auth|sig|signature|credential)=)(?!\[REDACTED\])[^&]+/gi;

/** A request path as it may be stored: whatever looks like a credential is hidden, and so are the values of query parameters
 *  that are named like one. Spec: gateway decisions, section 1, `request_path`. */
export function redactPath(path: string): { text: string; count: number } {
  const scrubbed = scrub(path, REDACTED);
  if (!path.includes('?')) return scrubbed;
  let count = scrubbed.count;
  const text = scrubbed.text.replace(SECRET_PARAMETER, () => {
    count += 1;
    return REDACTED;
  });
  return { text, count };
}
