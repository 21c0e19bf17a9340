import type { Span } from '../text-edit.ts';
import { EnclosingNames } from './enclosing-name.ts';
import { decodedString, endOfValue } from './json-text.ts';
import { describedValues, NOTHING } from './schema-values.ts';

/** The value of a field with a denied name. */
interface DeniedValue extends Span {
  /** The value as written; a JSON string is decoded. */
  readonly value: string;
}

/** A larger object is not a description of a field. */
const SCHEMA_MAX_LENGTH = 65_536;
const SEPARATOR = String.raw`(?:[-_ ]|\\u00(?:2d|5f|20))`;

/** Fields by their names: whole names, in any letter case, and with `-`, `_`, a space or nothing where a denied name has one of these: `api_key`
 *  is also `apiKey`, `token` is not `max_tokens`. Spec: G13.8. */
export class DeniedFields {
  /** For a prefilter: every JSON text with such a field contains one of these. */
  readonly words: readonly string[];
  readonly #member: RegExp;
  /** The same for texts with escapes, which is slower. */
  readonly #escapedMember: RegExp;
  readonly #pair: RegExp;
  readonly #part: RegExp;
  readonly #isDenied: ((member: string, value: string) => boolean) | undefined;

  /** `isDenied`: whether a JSON member with such a name counts; by default all do. */
  constructor(names: readonly string[], isDenied?: (member: string, value: string) => boolean) {
    this.#isDenied = isDenied;
    this.words = names.flatMap(wordsOf);
    const any = anyOf(names.map((name) => patternOf(name, (part) => RegExp.escape(part))));
    const escaped = anyOf(names.map((name) => patternOf(name, orEscape)));
    this.#member = new RegExp(`"${any}"\\s*:\\s*`, 'gi');
    this.#escapedMember = new RegExp(`"${escaped}"\\s*:\\s*`, 'gi');
    this.#pair = new RegExp(`(?<=(?:^|[?&])(?:[^=&\\s]{0,128}(?:\\[|%5B))?${any}(?:\\]|%5D)?=)[^&\\s]+`, 'gi');
    this.#part = new RegExp(`(?<=; *name="${any}"[^\\r\\n]*\\r?\\n(?:[^\\r\\n]+\\r?\\n){0,8}\\r?\\n)[^\\r\\n]+`, 'gi');
  }

  /** Values of denied members in JSON text, cut or complete, and in texts that contain JSON. Empty values, `null` and booleans do not count. If a
   *  JSON Schema describes the member, only the values in the description count, and only at places of descriptions, because data may look the
   *  same. */
  *membersOf(text: string): Generator<DeniedValue> {
    const member = new RegExp(text.includes('\\u00') ? this.#escapedMember : this.#member);
    const names = new EnclosingNames(text);
    for (let match = member.exec(text); match !== null; match = member.exec(text)) {
      const start = member.lastIndex;
      const end = endOfValue(text, start);
      if (NOTHING.test(text.slice(start, end))) continue;
      const mayBeDescription = /[{[]/.test(text[start] ?? '') && end - start <= SCHEMA_MAX_LENGTH;
      const values = mayBeDescription ? describedValues(text, start, end, names.around(match.index)) : undefined;
      for (const span of values ?? [{ start, end }]) {
        const denied = deniedValue(text, span);
        if (this.#isDenied?.(match[0], denied.value) !== false) yield denied;
      }
      member.lastIndex = end;
    }
  }

  /** Values of denied names in a query string or a form: `a=1&token=x`, `user[token]=x`. */
  pairsOf(text: string): DeniedValue[] {
    return Array.from(text.matchAll(this.#pair), ({ index, 0: value }) => ({ start: index, end: index + value.length, value }));
  }

  /** Values of denied names in multipart form data, each one line. */
  partsOf(text: string): DeniedValue[] {
    return Array.from(text.matchAll(this.#part), ({ index, 0: value }) => ({ start: index, end: index + value.length, value }));
  }
}

/** Without names nothing must match, but an empty alternative would match everything. */
function anyOf(patterns: readonly string[]): string {
  return patterns.length === 0 ? '(?!)' : `(?:${patterns.join('|')})`;
}

function patternOf(name: string, written: (text: string) => string): string {
  return name.split(/[-_ ]/).map(written).join(`${SEPARATOR}?`);
}

/** Every character as itself or as an escape of JSON. */
function orEscape(part: string): string {
  return Array.from(part, (one) => {
    const codes = [one.toLowerCase(), one.toUpperCase()].map((cased) => cased.charCodeAt(0).toString(16).padStart(4, '0'));
    return String.raw`(?:${RegExp.escape(one)}|\\u(?:${codes.join('|')}))`;
  }).join('');
}

/** Texts that every spelling of the name contains: the name up to its first separator, when that is long enough. */
function wordsOf(name: string): string[] {
  const [first = '', ...rest] = name.split(/[-_ ]/);
  if (first.length > 1) return [`"${first}`];
  if (rest.length === 0) return [`"${first}"`, `"${first}\\`];
  return ['-', '_', ' ', ''].map((separator) => `"${first}${separator}${rest[0]?.[0] ?? ''}`);
}

function deniedValue(text: string, { start, end }: Span): DeniedValue {
  const written = text.slice(start, end);
  const inside = written.startsWith('"') ? written.replace(/^"|"$/g, '') : written;
  return { start, end, value: decodedString(inside) ?? inside };
}
