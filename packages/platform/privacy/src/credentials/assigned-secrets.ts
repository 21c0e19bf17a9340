import { BareValues, looksSecret } from './bare-values.ts';
import type { Span } from '../text-edit.ts';

/** Names with a secret as their value, behind an equals sign or a colon. */
export const SECRET_NAMES = ['password', 'secret', 'token'] as const;

// The name, optionally in quotes, a sign, and optionally an opening quote followed by a value, not by the text after a JSON or code
// string. In JSON quotes and tabs are written with backslashes, in nested JSON with more of them. Every repetition is bounded, because
// long runs of blanks would otherwise cost their length squared.
const ASSIGNMENT = new RegExp(
  String.raw`(${SECRET_NAMES.join('|')})(\\{0,15}["'${'`'}])?([ \t]{0,8})(:=|={1,3}>?|:)` +
    String.raw`((?:[ \t]|\\{1,15}t){0,8})(\\{0,15}["'${'`'}](?![\s)\],;}>:+/]))?`,
  'gi',
);
const LONGEST_NAME = 32;
const ALREADY_REDACTED = /^\[[A-Z_]*REDACTED(?::[0-9a-f]+)?\]$/;

interface AssignmentOptions {
  /** In JSON a quote without a backslash ends a string. */
  readonly isJson: boolean;
  /** Whether JSON members such as `"password":"x"` count too. */
  readonly withMembers: boolean;
}

/** Values of `password=`, `secret=` and `token=`, also in quotes, and with a colon instead.
 *  - `password=x`, without blanks: any value.
 *  - `password="x y"`, `password: 'x y'`: any value, up to its closing quote or the line's end; of tokens, after a colon or among blanks,
 *    only what looks like a secret, because parsers are full of `token === 'else'`.
 *  - `password: x`, `password = x`: a value that looks like a secret: prose and code say `password: string`.
 *  - `"password": "x"`, whole names only, and of tokens only what looks like a secret: models respond with `{"token":"Hello"}`.
 *  No span reaches over a line's end; in JSON, over a string's; and it never splits an escape. */
export function findAssignedSecrets(text: string, { isJson, withMembers }: AssignmentOptions): Span[] {
  const found: Span[] = [];
  const bare = new BareValues(text, isJson);
  ASSIGNMENT.lastIndex = 0;
  for (let match = ASSIGNMENT.exec(text); match !== null; match = ASSIGNMENT.exec(text)) {
    const value = match[2]?.endsWith('"') === true && !withMembers ? undefined : valueOf(text, match, bare, isJson);
    if (value === undefined) continue;
    // An unquoted value may end in another name with its own value: `password=a=token: b`.
    ASSIGNMENT.lastIndex = Math.max(ASSIGNMENT.lastIndex, match[6] === undefined ? value.end - LONGEST_NAME : value.end);
    if (value.end > value.start && !ALREADY_REDACTED.test(text.slice(value.start, value.end))) found.push(value);
  }
  return found;
}

function valueOf(text: string, match: RegExpExecArray, bare: BareValues, isJson: boolean): Span | undefined {
  const [, name = '', nameQuote, before, sign, after, quote] = match;
  const from = match.index + match[0].length;
  const isMember = nameQuote !== undefined;
  // Only a complete quoted name counts, not `"page_token"` or the end of a string before a colon.
  if (isMember && text[match.index - 1] !== nameQuote.at(-1)) return undefined;
  const isTight = /^=+$/.test(sign ?? '') && before === '' && after === '' && !isMember;
  if (quote === undefined) {
    // Two equals signs between blanks are a comparison. A number as a JSON member stays a number.
    if ((!isTight && sign?.startsWith('==')) || nameQuote?.endsWith('"')) return undefined;
    return isTight ? bare.anyAt(from) : bare.secretAt(from, name.toLowerCase() === 'password');
  }
  const end = endOfQuoted(text, from, quote, isJson);
  const value = text.slice(from, end);
  const isAny = !quote.endsWith('`') && (isTight || name.toLowerCase() !== 'token');
  const mayHaveBlanks = !isMember && !quote.endsWith('`');
  return isAny || (looksSecret(value) && (mayHaveBlanks || !/\s/.test(value))) ? { start: from, end } : undefined;
}

/** The end of a value with its opening quote before `from`: the quote with the same number of backslashes, or else the end of the line or of the
 *  JSON string. */
function endOfQuoted(text: string, from: number, quote: string, isJson: boolean): number {
  const slashes = quote.length - 1;
  const mark = quote.at(-1);
  let run = 0;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\') {
      run += 1;
      continue;
    }
    // Each level of JSON doubles the backslashes and adds one. More backslashes are part of the value.
    if (character === mark && run % (2 * (slashes + 1)) === slashes) return at - slashes;
    if (isJson && character === '"' && run % 2 === 0) return at;
    if (character === '\n' || character === '\r') return at;
    const isEscape = run % 2 === 1 && (isJson || slashes > 0);
    if (isEscape && (character === 'n' || character === 'r')) return at - 1;
    run = 0;
  }
  return text.length;
}
