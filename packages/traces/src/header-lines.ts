import { scrub } from '@vitrine/telemetry/scrub';

export const REDACTED = '[REDACTED]';

// Headers that exist to carry a secret: their values are never stored. Spec: gateway decisions, sections 1 and 5.
const SECRET_LINES =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-key|x-goog-api-key|x-svc-gateway-key):.*$/gim;

/** A message's headers as text: `name:value` lines in wire order. Neither part can hold a line break, a name no colon. One string
 *  crosses to a worker thread and into a database at a fraction of the cost of an array. `raw` holds names and values in turn. */
export function headerLines(raw: readonly string[]): string {
  let lines = '';
  for (let i = 0; i + 1 < raw.length; i += 2) lines += `${raw[i]}:${raw[i + 1]}\n`;
  return lines;
}

/** The first value of a header, trimmed. `name` must hold only letters and dashes. */
export function headerOf(lines: string, name: string): string | undefined {
  let expression = expressions.get(name);
  if (expression === undefined) expressions.set(name, (expression = new RegExp(`^${name}:(.*)$`, 'im')));
  return expression.exec(lines)?.[1]?.trim();
}
const expressions = new Map<string, RegExp>();

/** Header lines that may be stored: secret headers become `[REDACTED]`, credentials inside other values are scrubbed. */
export function redactedLines(lines: string): { lines: string; redacted: number } {
  let redacted = 0;
  const hidden = lines.replace(SECRET_LINES, (_line, name: string) => {
    redacted += 1;
    return `${name}:${REDACTED}`;
  });
  const { text, count } = scrub(hidden);
  return { lines: text, redacted: redacted + count };
}

/** Header lines as the API shows them: lower-case name -> values in the order they came. */
export function headerValuesOf(lines: string): Record<string, string[]> {
  const values = Object.create(null) as Record<string, string[]>;
  for (const line of lines.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) (values[line.slice(0, colon).toLowerCase()] ??= []).push(line.slice(colon + 1).trim());
  }
  return values;
}
