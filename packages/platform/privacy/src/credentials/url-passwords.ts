import type { Span } from '../text-edit.ts';

/** Ends a URL's authority, is part of a template (`{password}`), or stands around a URL in a text. */
const OUTSIDE = String.raw`\s/?#"'${'`'}\\<>{}[\]|`;
// A user and a password may contain an unescaped `@`, so the last one ends them. In JSON a slash may be escaped.
const USER_AND_PASSWORD = new RegExp(String.raw`:\\{0,15}/\\{0,15}/[^:${OUTSIDE}]*:([^${OUTSIDE}]+)@`, 'g');
/** Variables, masks, and a port with other text behind it. */
const NOT_A_PASSWORD = /^(?:\$\w+|\$\(\w+\)|%s|%\(\w+\)s|\*+|x+)$|^\d{1,5}[&,;)]/;

/** The passwords of `scheme://user:password@host`. Spec: G13.11. */
export function findUrlPasswords(text: string): Span[] {
  const found: Span[] = [];
  if (!text.includes('@')) return found;
  USER_AND_PASSWORD.lastIndex = 0;
  for (let match = USER_AND_PASSWORD.exec(text); match !== null; match = USER_AND_PASSWORD.exec(text)) {
    const [, password = ''] = match;
    const end = USER_AND_PASSWORD.lastIndex - 1;
    if (!NOT_A_PASSWORD.test(password)) found.push({ start: end - password.length, end });
  }
  return found;
}
