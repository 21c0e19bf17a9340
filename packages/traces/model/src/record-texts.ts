import type { TraceRecord } from './trace-record.ts';

/** The texts of a record that stand after its JSON as they are: most of its bytes, with many quotes, each of which JSON escapes. */
export const TEXT_NAMES = ['request_body', 'response_body', 'metadata'] as const;
export type RecordTexts = Pick<TraceRecord, (typeof TEXT_NAMES)[number]>;

/** Stands before each text. */
export const TEXT_START = '\x1e';
/** What stands in texts for characters that would end the line, or the field of a line that has the key before the record. As expressions,
 *  with which V8 replaces many in half of the time. */
const STAND_INS = (
  [
    ['\n', '\x1f'],
    ['\r', '\x1d'],
    ['\t', '\x1c'],
  ] as const
).map(([character, standIn]) => ({
  character,
  standIn,
  everyCharacter: new RegExp(character, 'g'),
  everyStandIn: new RegExp(standIn, 'g'),
}));
const RESERVED = [TEXT_START, ...STAND_INS.map(({ standIn }) => standIn)];

/** Whether a text can stand after the JSON and be read as it was; another one stays in it. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !RESERVED.some((character) => text.includes(character));
}

/** Plain texts, each after `TEXT_START`, in one line. */
export function inOneLine(texts: string): string {
  let line = texts;
  for (const { character, everyCharacter, standIn } of STAND_INS)
    if (line.includes(character)) line = line.replaceAll(everyCharacter, standIn);
  return line;
}

/** What `inOneLine` made, by the names of its texts. Undefined when these are not as many. */
export function readTexts(line: string, names: readonly string[]): Readonly<Record<string, string>> | undefined {
  let texts = line;
  for (const { character, standIn, everyStandIn } of STAND_INS)
    if (texts.includes(standIn)) texts = texts.replaceAll(everyStandIn, character);
  const read = texts.split(TEXT_START).slice(1);
  if (read.length !== names.length) return undefined;
  return Object.fromEntries(names.map((name, at) => [name, read[at] ?? '']));
}
