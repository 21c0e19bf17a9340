const LF = 0x0a;
const CR = 0x0d;

// An event without one of these changes no fact: keys, types, `event: error`, and letters written as escapes. Streams that report usage at
// their end have `"usage":null` until then.
const FACTS =
  /"usage"(?!: ?n)|error|message_stop|output_item\.done|"web_search_tool_result|\.(?:completed|incomplete|failed)"|\[DONE\]|\\u00/g;
const FACTS_OR_MODEL = new RegExp(`${FACTS.source}|"model"`, 'g');

/** Skips whole events that cannot change the facts: from `start`, between two events, to the `end` of the last event before the next of the
 *  words, which begins at `word`. Most events of a stream are skipped. `text` has a character for each byte. This may only err by skipping too
 *  little (a property test of `body-facts-reader.test.ts`). */
export function skipIrrelevantEvents(text: string, start: number, needsModel: boolean): { end: number; word: number } {
  const words = needsModel ? FACTS_OR_MODEL : FACTS;
  words.lastIndex = start;
  const word = words.exec(text)?.index ?? text.length;
  for (let end = word; end > start + 1; end--) {
    if (text.charCodeAt(end - 1) !== LF) continue;
    const before = text.charCodeAt(end - 2);
    if (before === LF || (before === CR && end > start + 2 && text.charCodeAt(end - 3) === LF)) return { end, word };
  }
  return { end: start, word };
}
