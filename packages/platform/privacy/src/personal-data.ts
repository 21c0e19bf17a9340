import { findUrlPasswords } from './credentials/url-passwords.ts';
import type { Span } from './text-edit.ts';

/** Maximum lengths before and after the `@` of an address (RFC 5321). */
const LOCAL_MAX = 64;
const DOMAIN_MAX = 255;
const LOCAL = /[\w.%+\-'\u00c0-\u024f\u0370-\u052f]/;
const DOMAIN = /^[A-Za-z0-9\u00c0-\u024f](?:[A-Za-z0-9\u00c0-\u024f-]*\.)+[A-Za-z]{2,63}(?![A-Za-z0-9-])/;

// A country code after a plus, then groups of digits. A group never ends within its digits, because digits shared by several groups
// would be split in millions of ways: a number of 72 digits took 130 ms.
const GROUP = String.raw`(?:[-. ]\(?|\(|(?<=\)))\d{1,15}(?!\d)\)?`;
const INTERNATIONAL = new RegExp(
  String.raw`(?<![\w+/=-])\+[1-9](?:\d{0,2}(?!\d)(?:${GROUP}){1,6}|\d{1,14}(?!\d)\)?(?:${GROUP}){0,5})(?!\w)`,
  'g',
);
const INTERNATIONAL_DIGITS = [9, 15] as const;
const LAST_GROUP = /[-. ]?\(?(?<!\d)\d+\)?$/;
// North American with separators, because ten digits in a row are more often an id. Groups between spaces must begin like such numbers.
const NATIONAL =
  /(?<!\w|\w[-.])(?:1[-. ])?(?:\(\d{3}\) ?\d{3}[-. ]|\d{3}([-.])\d{3}\1|[2-9]\d{2} [2-9]\d{2} )\d{4}(?!\w|[-.]\d)/g;
// Numbers that were never assigned are ignored.
const SSN = /(?<!\w|\w[-.])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?!\w|[-.]\d)/g;

/** Email addresses with a host name that has a dot, but not the password and host of a URL. Searches outwards from each `@`, so that the time is
 *  linear in the text. */
export function findEmails(text: string): Span[] {
  const found: Span[] = [];
  const passwordEnds = new Set(findUrlPasswords(text).map(({ end }) => end));
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > 0 && at - start < LOCAL_MAX && LOCAL.test(text[start - 1] ?? '')) start -= 1;
    while (start < at && /['.\-+%]/.test(text[start] ?? '')) start += 1;
    const domain = DOMAIN.exec(text.slice(at + 1, at + 1 + DOMAIN_MAX))?.[0];
    if (start < at && domain !== undefined && !passwordEnds.has(at)) found.push({ start, end: at + 1 + domain.length });
  }
  return found;
}

/** Phone numbers: international with a plus (9 to 15 digits), or North American with separators. Bare digits do not count. */
export function findPhones(text: string): Span[] {
  const international = spansOf(text, INTERNATIONAL).map(({ start, end }) => {
    const number = internationalNumber(text.slice(start, end));
    return { start, end: start + number.length };
  });
  return [...international.filter(({ start, end }) => end > start), ...spansOf(text, NATIONAL)];
}

/** A number without following groups of digits that would make it too long. Empty when it is not a number. */
function internationalNumber(groups: string): string {
  const [least, most] = INTERNATIONAL_DIGITS;
  let number = groups;
  let digits = digitsIn(number);
  while (digits > most) {
    number = number.replace(LAST_GROUP, '');
    digits = digitsIn(number);
  }
  return digits < least ? '' : number;
}

function digitsIn(text: string): number {
  return text.replace(/\D/g, '').length;
}

/** Social security numbers of the United States, separated by dashes or spaces. */
export function findSsns(text: string): Span[] {
  return spansOf(text, SSN);
}

function spansOf(text: string, pattern: RegExp): Span[] {
  return Array.from(text.matchAll(pattern), ({ index, 0: found }) => ({ start: index, end: index + found.length }));
}
