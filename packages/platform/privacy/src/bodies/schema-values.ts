import type { Span } from '../text-edit.ts';
import { decodedString, endOfString, endOfValue, isSpace } from './json-text.ts';

/** Deeper schemas are treated as data. */
const MAX_DEPTH = 32;
/** Literals and empty values, which contain no secret. */
export const NOTHING = /^(?:|""|true|false|null|[{[]\s*[}\]])$/;
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** The description being read. */
interface Reading {
  readonly cursor: JsonCursor;
  /** Values of the described field. */
  readonly values: Span[];
}

/** Consumes the value at the cursor; false when it is not of the expected form. */
type Read = (reading: Reading, depth: number) => boolean;

const text: Read = ({ cursor }) => cursor.string() !== undefined;
const number: Read = ({ cursor }) => /^-?\d/.test(cursor.value());
const boolean: Read = ({ cursor }) => ['true', 'false'].includes(cursor.value());
const type: Read = ({ cursor }) => TYPES.includes(cursor.string() ?? '');
const value: Read = ({ cursor, values }) => {
  const written = cursor.value();
  if (!NOTHING.test(written)) values.push({ start: cursor.at - written.length, end: cursor.at });
  return written !== '';
};
const schemaOrBoolean: Read = (reading, depth) => (reading.cursor.peek() === '{' ? readSchema : boolean)(reading, depth);
const names = listOf(text);

const KEYWORDS = new Map<string, Read>([
  ...keywords('default const enum example examples', orList(value)),
  ...keywords('type', orList(type)),
  ...keywords('items', orList(schemaOrBoolean)),
  ...keywords('allOf anyOf oneOf prefixItems', listOf(schemaOrBoolean)),
  ...keywords('contains not if then else propertyNames contentSchema', schemaOrBoolean),
  ...keywords('additionalItems additionalProperties unevaluatedItems unevaluatedProperties', schemaOrBoolean),
  ...keywords('properties patternProperties $defs definitions dependentSchemas', byName(schemaOrBoolean)),
  ...keywords('dependentRequired', byName(names)),
  ...keywords('dependencies', byName(schemaOrNames)),
  ...keywords('required propertyOrdering', names),
  ...keywords('$schema $id $ref $anchor $dynamicRef $dynamicAnchor $comment title description', text),
  ...keywords('format pattern contentEncoding contentMediaType', text),
  ...keywords('minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength', number),
  ...keywords('minItems maxItems minContains maxContains minProperties maxProperties', number),
  ...keywords('uniqueItems deprecated readOnly writeOnly nullable', boolean),
]);
/** Keywords that define the values of a field. Without any of them an object may be a schema or data. */
const DESCRIPTIVE = new Set(
  'type $ref $dynamicRef const enum items prefixItems properties patternProperties additionalProperties allOf anyOf oneOf not if'.split(
    ' ',
  ),
);
/** Members with objects that describe fields by name, and how to read each description. */
const HOLDERS = new Map<string, Read>([
  ...keywords('properties patternProperties $defs definitions dependentSchemas', readSchema),
  ...keywords('dependentRequired', names),
  ...keywords('dependencies', schemaOrNames),
]);

/** Values in the description of a field in a JSON Schema: a default, constants, examples, and those of extensions (`x-`). `holder`: the name of the
 *  member around the description. Undefined when that member has no descriptions, or the text is not a complete, valid description. */
export function describedValues(json: string, start: number, end: number, holder: string | undefined): Span[] | undefined {
  const read = HOLDERS.get(holder ?? '');
  const reading = { cursor: new JsonCursor(json, start, end), values: [] };
  return read?.(reading, 0) === true && reading.cursor.at === end ? reading.values : undefined;
}

function readSchema(reading: Reading, depth: number): boolean {
  let isDescriptive = depth > 0;
  if (depth > MAX_DEPTH) return false;
  const isSchema = reading.cursor.members((name) => {
    isDescriptive ||= DESCRIPTIVE.has(name);
    const read = KEYWORDS.get(name) ?? (name.startsWith('x-') ? value : undefined);
    return read?.(reading, depth + 1) === true;
  });
  return isSchema && isDescriptive;
}

function schemaOrNames(reading: Reading, depth: number): boolean {
  return (reading.cursor.peek() === '[' ? names : readSchema)(reading, depth);
}

function listOf(read: Read): Read {
  return (reading, depth) => reading.cursor.elements(() => read(reading, depth));
}

function orList(read: Read): Read {
  const list = listOf(read);
  return (reading, depth) => (reading.cursor.peek() === '[' ? list : read)(reading, depth);
}

function byName(read: Read): Read {
  return (reading, depth) => reading.cursor.members(() => read(reading, depth));
}

function keywords(words: string, read: Read): [string, Read][] {
  return words.split(' ').map((word) => [word, read]);
}

/** Reads a part of a JSON text value by value. Returns false or undefined at anything unexpected. */
class JsonCursor {
  readonly #text: string;
  readonly #end: number;
  at: number;

  constructor(text: string, start: number, end: number) {
    this.#text = text;
    this.at = start;
    this.#end = end;
  }

  /** The next character that is no white space; undefined at the end. */
  peek(): string | undefined {
    while (this.at < this.#end && isSpace(this.#text.charCodeAt(this.at))) this.at += 1;
    return this.at < this.#end ? this.#text[this.at] : undefined;
  }

  passes(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }

  /** The decoded value of a string. */
  string(): string | undefined {
    if (this.peek() !== '"') return undefined;
    const start = this.at + 1;
    const end = endOfString(this.#text, start, this.#end);
    this.at = end + 1;
    return end < this.#end ? decodedString(this.#text.slice(start, end)) : undefined;
  }

  /** The raw text of a value. */
  value(): string {
    this.peek();
    const start = this.at;
    this.at = Math.min(endOfValue(this.#text, start), this.#end);
    return this.#text.slice(start, this.at);
  }

  members(readValue: (name: string) => boolean): boolean {
    if (!this.passes('{')) return false;
    while (this.peek() !== '}') {
      const name = this.string();
      if (name === undefined || !this.passes(':') || !readValue(name)) return false;
      if (!this.passes(',')) break;
    }
    return this.passes('}');
  }

  elements(readValue: () => boolean): boolean {
    if (!this.passes('[')) return false;
    while (this.peek() !== ']') {
      if (!readValue()) return false;
      if (!this.passes(',')) break;
    }
    return this.passes(']');
  }
}
