/** The texts of a record that stand after its JSON as they are: most of its bytes, with many quotes, each of which JSON escapes. */
export const TEXT_NAMES = ['request_body', 'response_body', 'metadata'] as const;

/** Stands before each text. */
export const TEXT_START = '\x1e';
/** What stands in texts for characters that would end the line, or the field of a line that has the key before the record. */
const STAND_INS = [
  ['\n', '\x1f'],
  ['\r', '\x1d'],
  ['\t', '\x1c'],
] as const;
const RESERVED = [TEXT_START, ...STAND_INS.map(([, standIn]) => standIn)];

/** Whether a text can stand after the JSON and be read as it was; another one stays in it. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !RESERVED.some((character) => text.includes(character));
}

/** Plain texts, each after `TEXT_START`, in one line. */
export function inOneLine(texts: string): string {
  return STAND_INS.reduce((line, [character, standIn]) => line.replaceAll(character, standIn), texts);
}

/** What `inOneLine` made, by the names of its texts. Undefined when these are not as many. */
export function readTexts(line: string, names: readonly string[]): Readonly<Record<string, string>> | undefined {
  const texts = STAND_INS.reduce((text, [character, standIn]) => text.replaceAll(standIn, character), line);
  const read = texts.split(TEXT_START).slice(1);
  if (read.length !== names.length) return undefined;
  return Object.fromEntries(names.map((name, at) => [name, read[at] ?? '']));
}
