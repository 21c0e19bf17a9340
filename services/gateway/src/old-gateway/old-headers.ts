import { isSecretHeader, REDACTED } from '@vitrine/privacy/header-lines';

/** Names that HTTP allows; what else stood there was no header. */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/;
/** The old gateway hid its own key header itself, unless that had another name. */
const OLD_KEY_HEADER = 'x-ongoingai-gateway-key';

/** Headers as they are stored here. */
export interface OldHeaders {
  /** Header lines (`header-lines.ts`), secrets hidden. */
  readonly lines: string;
  /** How many secrets the old gateway had left in plain sight. */
  readonly secrets: number;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/** Reads headers as `ongoingai/gateway` keeps them: JSON, name -> list of values. What is no such JSON has none. `keyHeader`: the name of
 *  this gateway's key header, which the old one may have used as well. */
export function readOldHeaders(text: string | null, keyHeader: string): OldHeaders {
  const lines: string[] = [];
  const found = new Map<string, string>();
  let secrets = 0;
  for (const [name, given] of Object.entries(objectOf(text))) {
    if (!NAME.test(name)) continue;
    const lower = name.toLowerCase();
    const isSecret = isSecretHeader(lower) || lower === OLD_KEY_HEADER || lower === keyHeader.toLowerCase();
    for (const value of Array.isArray(given) ? given : [given]) {
      if (typeof value !== 'string') continue;
      const plain = value.replaceAll(/[\r\n\0]/g, ' ');
      if (isSecret && plain !== REDACTED) secrets += 1;
      lines.push(name, isSecret ? REDACTED : plain);
      if (!found.has(lower)) found.set(lower, plain);
    }
  }
  return {
    lines: lines.join('\n'),
    secrets,
    contentType: found.get('content-type'),
    contentEncoding: found.get('content-encoding'),
  };
}

/** An object in JSON; one without members for anything else. */
export function objectOf(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
