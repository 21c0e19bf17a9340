/** The texts of a record that follow its JSON unescaped. They are most of its bytes and contain many quotes that JSON would escape. */
export const TEXT_NAMES = ['request_body', 'response_body', 'metadata'] as const;

/** Precedes each text. */
export const TEXT_START = '\x1e';
/** Replacements in texts for characters that would end the line, or the field of a line with the key before the record. */
const STAND_INS = [
  ['\n', '\x1f'],
  ['\r', '\x1d'],
  ['\t', '\x1c'],
] as const;
const RESERVED = [TEXT_START, ...STAND_INS.map(([, standIn]) => standIn)];

/** Whether a text can follow the JSON without ambiguity. Other texts stay in the JSON. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !RESERVED.some((character) => text.includes(character));
}

/** Plain texts, each after `TEXT_START`, in one line. */
export function inOneLine(texts: string): string {
  return STAND_INS.reduce((line, [character, standIn]) => line.replaceAll(character, standIn), texts);
}

/** Parses the output of `inOneLine` by the names of its texts. Undefined when their number differs. */
export function readTexts(line: string, names: readonly string[]): Readonly<Record<string, string>> | undefined {
  const texts = STAND_INS.reduce((text, [character, standIn]) => text.replaceAll(standIn, character), line);
  const read = texts.split(TEXT_START).slice(1);
  if (read.length !== names.length) return undefined;
  return Object.fromEntries(names.map((name, at) => [name, read[at] ?? '']));
}
