/** The replacement for a secret that is never stored. */
export const REDACTED = '[REDACTED]';

/** Headers that exist to carry a secret. Spec: G4.19, G11.3, G13.9. */
export const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'ocp-apim-subscription-key',
  'private-token',
  'x-access-token',
  'x-amz-security-token',
  'x-auth-token',
  'x-svc-gateway-key',
  'x-ongoingai-gateway-key',
]);

/** Whether a header's value may never be stored. `name` is lower-case. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADERS.has(name);
}

// Header lines are a message's headers as text: alternating names and values, one per line. A header cannot contain a line break, so the
// line number tells names and values apart. Passing one string to a worker thread costs a fraction of an array.

/** The first value of a header, trimmed. `name` is lower-case. */
export function headerOf(lines: string, name: string): string | undefined {
  const parts = lines.split('\n');
  const at = parts.findIndex((part, index) => index % 2 === 0 && part.toLowerCase() === name);
  return at === -1 ? undefined : parts[at + 1]?.trim();
}

/** Header lines as the API shows them: lower-case name -> values in order of arrival. */
export function headerValuesOf(lines: string): Record<string, string[]> {
  const values = Object.create(null) as Record<string, string[]>;
  if (lines === '') return values;
  const parts = lines.split('\n');
  for (let i = 0; i < parts.length; i += 2) (values[(parts[i] ?? '').toLowerCase()] ??= []).push(parts[i + 1]?.trim() ?? '');
  return values;
}
