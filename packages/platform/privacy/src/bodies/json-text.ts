/** The end of the string with its first character at `from`: its closing quote, or `to` when there is none before. */
export function endOfString(text: string, from: number, to: number): number {
  for (let at = text.indexOf('"', from); at >= 0 && at < to; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (at - slashes > from && text[at - slashes - 1] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return to;
}

/** The end of the value that begins at `from`, its brackets and quotes included; the end of the text when it was cut. */
export function endOfValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return Math.min(text.length, endOfString(text, from + 1, text.length) + 1);
  if (first === '{' || first === '[') return endOfNested(text, from);
  const end = text.slice(from).search(/[\s,}\]"]/);
  return end < 0 ? text.length : from + end;
}

function endOfNested(text: string, from: number): number {
  const token = /["{}[\]]/g;
  token.lastIndex = from;
  let depth = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    if (match[0] === '"') token.lastIndex = endOfString(text, token.lastIndex, text.length) + 1;
    else depth += match[0] === '{' || match[0] === '[' ? 1 : -1;
    if (depth === 0) return token.lastIndex;
  }
  return text.length;
}

/** White space of JSON. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** The value of a JSON string from the text between its quotes, even when cut; undefined when invalid. */
export function decodedString(written: string): string | undefined {
  if (!written.includes('\\')) return written;
  return parsedString(written) ?? parsedString(written.replace(/\\(?:u[0-9A-Fa-f]{0,3})?$/, ''));
}

function parsedString(written: string): string | undefined {
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return undefined;
  }
}

/** A text escaped for the quotes of a JSON string. */
export function encodedString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
