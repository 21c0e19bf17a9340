/** A secret that was cut in half may be up to this long and not be recognised. */
const HALF_SECRET_MAX = 1_024;
/** So is a number that is written in groups. */
const NUMBER_MAX = 24;

/** A text that was cut, without its last word and the groups of a number before it: half of a secret looks like none. */
export function dropIncompleteTail(text: string): string {
  let end = text.length;
  const least = Math.max(0, end - HALF_SECRET_MAX);
  while (end > least && isPartOfWord(text, end - 1)) end -= 1;
  // A longer run of such characters is data in base64; or a token: parts joined by dots, and the beginning of one.
  if (end === least) end = startOfToken(text, end);
  const number = /(?<![-+. ()\d])[-+. ()\d]*$/.exec(text.slice(Math.max(0, end - NUMBER_MAX), end))?.[0] ?? '';
  return text.slice(0, /\d/.test(number) ? end - number.length : end);
}

function startOfToken(text: string, end: number): number {
  let start = end;
  while (start > 0 && /[\w.-]/.test(text[start - 1] ?? '')) start -= 1;
  return text.startsWith('eyJ', start) ? start : end;
}

function isPartOfWord(text: string, at: number): boolean {
  return !/[\s"',;<>(){}[\]]/.test(text[at] ?? '');
}
