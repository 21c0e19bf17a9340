import { hash } from 'node:crypto';
import { framingOf, linesOf } from './bodies/body-framing.ts';
import { addKinds, noFindings, type Detector, type FindingKind } from './findings.ts';
import { decodedString, encodedString, endOfString } from './bodies/json-text.ts';
import { findPrivateKeys } from './credentials/private-keys.ts';
import { findEmails, findPhones, findSsns } from './personal-data.ts';
import type { PrivacyContext } from './privacy-context.ts';
import { REDACTED } from './header-lines.ts';
import type { BodyKind, Redaction } from './redaction.ts';
import { findCredentials, isJsonText, redactPath } from './scrub.ts';
import { streamEdits } from './streams/stream-edits.ts';
import { append, editedText, editsWithin, mergedEdits, movedEdits, type Span, type TextEdit } from './text-edit.ts';

/** JSON in JSON strings (such as tool arguments) is parsed to this depth. Deeper JSON is treated as text. */
const MAX_DEPTH = 4;
/** Hexadecimal digits of the hash in a placeholder. */
const HASH_DIGITS = 16;

const FIND: Readonly<Record<Detector, (text: string) => Span[]>> = {
  email: findEmails,
  phone: findPhones,
  ssn: findSsns,
  // JSON members are handled by the denied fields.
  token_like: (text) => findCredentials(text, { withMembers: false }),
};
const TYPES: Readonly<Record<FindingKind, string>> = {
  header: 'HEADER',
  email: 'EMAIL',
  phone: 'PHONE',
  ssn: 'SSN',
  token_like: 'TOKEN',
  field_name: 'FIELD',
};

/** Redacts data in texts of one workspace that the rules forbid to store, and counts findings. Texts without a match of the prefilter are returned
 *  unchanged. In others every string is searched. JSON stays JSON, and nothing else changes. The time is linear in the text. Never throws.
 *  Spec: G13.7. */
export class Redactor implements Redaction {
  readonly counts = noFindings();
  readonly #context: PrivacyContext;
  readonly #workspaceId: string;

  /** `workspaceId`: the workspace of the exchange. The same value has another hash in another workspace. */
  constructor(context: PrivacyContext, workspaceId: string) {
    this.#context = context;
    this.#workspaceId = workspaceId;
  }

  /** A text other than a body: a name, an id, the value of a header, header lines. */
  line(text: string): string {
    return this.#context.linePrefilter.mayMatch(text) ? this.#edited(text, this.#detected(text, this.#context.inLines)) : text;
  }

  /** Redacts a path, also where it is percent-encoded, and the values of denied names in its query. */
  path(path: string): string {
    const { text, count } = redactPath(path);
    this.counts.token_like += count;
    const { linePrefilter, inLines, fields } = this.#context;
    const found = linePrefilter.mayMatch(text) ? this.#detected(text, inLines) : [];
    const named = text.includes('?') ? fields.pairsOf(text).filter(({ value }) => value !== REDACTED) : [];
    const encoded = /[%+]/.test(text) ? this.#encodedEdits(text) : [];
    return this.#edited(text, mergedEdits([...named.map((value) => this.#fieldEdit(value)), ...encoded, ...found]));
  }

  /** Header lines (`header-lines.ts`) with the values of denied headers redacted. */
  headers(lines: string): string {
    const { deniedHeader, linePrefilter } = this.#context;
    const isDenied = deniedHeader?.test(lines) === true;
    if (!isDenied && !linePrefilter.mayMatch(lines)) return lines;
    const parts = lines.split('\n');
    if (isDenied) this.#redactDenied(parts, deniedHeader);
    // One by one, because a private key may have several lines.
    return parts.map((part) => this.line(part)).join('\n');
  }

  #redactDenied(parts: string[], deniedHeader: RegExp): void {
    for (let at = 0; at + 1 < parts.length; at += 2) {
      if (!deniedHeader.test(parts[at] ?? '') || parts[at + 1] === REDACTED) continue;
      parts[at + 1] = REDACTED;
      this.counts.header += 1;
    }
  }

  /** A body's text; `isCut` when its end is missing. */
  body(text: string, kind: BodyKind, isCut = false): string {
    const { bodyPrefilter } = this.#context;
    const isClean = !bodyPrefilter.mayMatch(text);
    const framing = framingOf(text, kind);
    const isJson = kind === 'json' || /^\s*[{["]/.test(text);
    const isLoose = !isJson && kind !== 'sse';
    if (framing === undefined) {
      if (isLoose) return this.#edited(text, this.#looseEdits(text));
      return isClean ? text : this.#edited(text, this.#edits(text, 0));
    }
    const editsOf = (some: string) => (bodyPrefilter.mayMatch(some) ? this.#edits(some, 0) : []);
    const editsOfBody = (isLeftOut: (lineStart: number) => boolean) => {
      if (isLoose) return this.#looseEdits(text);
      return framing === 'lines' ? this.#edits(text, 0) : this.#lineEdits(text, isLeftOut);
    };
    return this.#edited(
      text,
      streamEdits(text, framing, { editsOf, bodyEdits: isClean && !isLoose ? undefined : editsOfBody, isCut }),
    );
  }

  /** Texts that are not JSON, line by line, because an unpaired quote would invert strings and the text between them. */
  #looseEdits(text: string): TextEdit[] {
    const { fields } = this.#context;
    const edits = [...fields.pairsOf(text), ...fields.partsOf(text)].map((value) => this.#fieldEdit(value));
    append(edits, this.#formEdits(text));
    append(edits, this.#lineEdits(text));
    return mergedEdits(edits);
  }

  #lineEdits(text: string, isLeftOut?: (lineStart: number) => boolean): TextEdit[] {
    // A private key may have several lines.
    const keys = this.#context.inBodies.includes('token_like') ? findPrivateKeys(text, false) : [];
    const edits = keys.map((key) => this.#edit(text, key, 'token_like'));
    for (const { start, end } of linesOf(text)) {
      const line = text.slice(start, end);
      if (!this.#context.bodyPrefilter.mayMatch(line) || isLeftOut?.(start) === true) continue;
      append(edits, movedEdits(this.#edits(line, 0), start));
    }
    return edits;
  }

  #edits(text: string, depth: number): TextEdit[] {
    const edits: TextEdit[] = [];
    let at = 0;
    for (const field of this.#context.fields.membersOf(text)) {
      if (this.#context.placeholder.test(field.value)) continue;
      this.#walk(text, at, field.start, depth, edits);
      const edit = this.#fieldEdit(field);
      edits.push({ ...edit, text: `"${edit.text}"` });
      at = field.end;
    }
    this.#walk(text, at, text.length, depth, edits);
    if (!text.includes('"') || !this.#context.inBodies.includes('token_like') || isJsonText(text)) return edits;
    // Outside JSON `password="x y"` is one assignment.
    return mergedEdits([...this.#detected(text, ['token_like']), ...edits]);
  }

  /** Visits the strings between two positions, and the text between the strings. */
  #walk(text: string, from: number, to: number, depth: number, edits: TextEdit[]): void {
    for (let at = from; at < to;) {
      const quote = text.indexOf('"', at);
      const start = quote < 0 || quote > to ? to : quote;
      this.#walkPlain(text, at, start, edits);
      const end = endOfString(text, start + 1, to);
      this.#walkString(text, start + 1, end, depth, edits);
      at = end + 1;
    }
  }

  #walkString(text: string, start: number, end: number, depth: number, edits: TextEdit[]): void {
    const written = text.slice(start, end);
    if (!this.#context.bodyPrefilter.mayMatch(written)) return;
    const said = decodedString(written);
    // Without escapes the raw text is the value. A text that cannot be decoded is not a string.
    if (said === undefined || said === written) {
      append(edits, movedEdits(this.#detected(written, this.#context.inBodies), start));
      return;
    }
    const inner = this.#saidEdits(said, depth);
    if (inner.length === 0) return;
    edits.push({ start, end, text: encodedString(editedText(said, inner)), kinds: inner.flatMap(({ kinds }) => kinds) });
  }

  /** Edits in the value of a string that differs from its raw text. */
  #saidEdits(said: string, depth: number): TextEdit[] {
    const isJson = depth < MAX_DEPTH && said.includes('"');
    return isJson ? this.#edits(said, depth + 1) : this.#detected(said, this.#context.inBodies);
  }

  /** In a form everything is percent-encoded, including `@`. It contains no white space. */
  #formEdits(text: string): TextEdit[] {
    if (!text.includes('=') || /\s/.test(text.trimEnd())) return [];
    return Array.from(text.matchAll(/[^&]+/g)).flatMap(({ index, 0: pair }) => this.#pairEdits(pair, index));
  }

  /** Edits of a name and of its value, separately. But a value may be a secret only because of its name. */
  #pairEdits(pair: string, from: number): TextEdit[] {
    const parts = pair.split('=');
    const said = parts.map(formDecoded);
    const whole = said.join('=');
    const { bodyPrefilter, inBodies } = this.#context;
    if (whole === pair || !bodyPrefilter.mayMatch(whole)) return [];
    const secrets = inBodies.includes('token_like') ? this.#detected(whole, ['token_like']) : [];
    const edits: TextEdit[] = [];
    let start = from;
    let at = 0;
    for (const [i, part] of parts.entries()) {
      const text = said[i] ?? '';
      const end = start + part.length;
      const inner =
        text === part ? [] : mergedEdits([...editsWithin(secrets, at, at + text.length), ...this.#saidEdits(text, 0)]);
      const kinds = inner.flatMap((edit) => edit.kinds);
      if (inner.length > 0) edits.push({ start, end, text: formEncoded(editedText(text, inner)), kinds });
      start = end + 1;
      at += text.length + 1;
    }
    return edits;
  }

  #walkPlain(text: string, start: number, end: number, edits: TextEdit[]): void {
    const plain = text.slice(start, end);
    if (this.#context.bodyPrefilter.mayMatch(plain))
      append(edits, movedEdits(this.#detected(plain, this.#context.inBodies), start));
  }

  #detected(text: string, detectors: readonly Detector[]): TextEdit[] {
    const edits = detectors.flatMap((detector) =>
      FIND[detector](text)
        .filter(({ start, end }) => !this.#context.placeholder.test(text.slice(start, end)))
        .map((span) => this.#edit(text, span, detector)),
    );
    return edits.length < 2 ? edits : mergedEdits(edits);
  }

  #encodedEdits(path: string): TextEdit[] {
    const query = path.includes('?') ? path.indexOf('?') : path.length;
    return Array.from(path.matchAll(/[^/?&=]+/g)).flatMap(({ index, 0: part }) => {
      const said = index > query ? formDecoded(part) : percentDecoded(part);
      const [found] = said === part ? [] : this.#detected(said, this.#context.inLines);
      return found === undefined ? [] : [{ ...found, start: index, end: index + part.length }];
    });
  }

  #fieldEdit({ start, end, value }: Span & { readonly value: string }): TextEdit {
    return { start, end, text: this.#placeholder('field_name', value), kinds: ['field_name'] };
  }

  #edit(text: string, { start, end }: Span, kind: FindingKind): TextEdit {
    return { start, end, text: this.#placeholder(kind, text.slice(start, end)), kinds: [kind] };
  }

  #placeholder(kind: FindingKind, value: string): string {
    const { format, salt } = this.#context.rules;
    const digits = () => hash('sha256', `${this.#workspaceId}:${salt}:${value}`).slice(0, HASH_DIGITS);
    return format.replace(/\{type\}/g, TYPES[kind]).replace(/\{hash\}/g, digits);
  }

  #edited(text: string, edits: readonly TextEdit[]): string {
    if (edits.length === 0) return text;
    for (const { kinds } of edits) addKinds(this.counts, kinds);
    return editedText(text, edits);
  }
}

/** In cut or broken text at least ASCII is decoded, as needed by the detectors. */
function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part.replace(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  }
}

/** In forms and queries a plus is a space. */
function formDecoded(part: string): string {
  return /[%+]/.test(part) ? percentDecoded(part.replaceAll('+', ' ')) : part;
}

function formEncoded(said: string): string {
  return encodeURIComponent(said.toWellFormed()).replaceAll('%20', '+');
}
