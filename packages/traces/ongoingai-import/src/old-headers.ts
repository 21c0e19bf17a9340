import { isSecretHeader, REDACTED } from '@vitrine/privacy/header-lines';

/** Valid names of HTTP headers; others are dropped. */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/;
/** The old gateway redacted its key header itself, unless its name was configured otherwise. */
const OLD_KEY_HEADER = 'x-ongoingai-gateway-key';

/** Headers as they are stored here. */
export interface OldHeaders {
  /** Header lines (`header-lines.ts`), secrets redacted. */
  readonly lines: string;
  /** Secrets that the old gateway had not redacted. */
  readonly secrets: number;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/** Reads the stored headers of `ongoingai/gateway`: JSON, name -> list of values; anything else has none. `keyHeader`: the name of this
 *  gateway's key header, which the old one may have used too. */
export function readOldHeaders(text: string | null, keyHeader: string): OldHeaders {
  const lines: string[] = [];
  const found = new Map<string, string>();
  let secrets = 0;
  for (const [name, values] of Object.entries(objectOf(text))) {
    if (!NAME.test(name)) continue;
    const lower = name.toLowerCase();
    const isSecret = isSecretHeader(lower) || lower === OLD_KEY_HEADER || lower === keyHeader.toLowerCase();
    for (const value of Array.isArray(values) ? (values as unknown[]) : [values]) {
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

/** A JSON object; an empty one for anything else. */
export function objectOf(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
