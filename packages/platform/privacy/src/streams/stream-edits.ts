import { dropIncompleteTail, type Framing } from '../bodies/body-framing.ts';
import { encodedString } from '../bodies/json-text.ts';
import { placeInBody, readEventStream, type SplitEvent, type StreamText } from './event-stream.ts';
import { append, mergedEdits, movedEdits, type TextEdit } from '../text-edit.ts';

/** How the body of a stream is searched. */
interface StreamSearch {
  /** Edits of a text or of JSON. */
  readonly editsOf: (text: string) => TextEdit[];
  /** Edits of the raw body, without the skipped lines; undefined if none are needed. */
  readonly bodyEdits: ((isLeftOut: (lineStart: number) => boolean) => TextEdit[]) | undefined;
  /** Whether the end of the body is missing. */
  readonly isCut: boolean;
}

/** The edits of a stream's body: within its events, and in fragmented texts, which are joined because an address is seldom within one fragment. A
 *  finding over several fragments is replaced in the first and removed from the others. */
export function streamEdits(stream: string, framing: Framing, search: StreamSearch): TextEdit[] {
  const { texts, splitEvents } = readEventStream(stream, framing);
  const fragmented: StreamText[] = [];
  const edits: TextEdit[] = [];
  for (const text of texts) {
    if (!text.isFragmented && !(search.isCut && text.isOpenEnded)) continue;
    fragmented.push(text);
    append(edits, spreadEdits(stream, textEdits(stream, text, framing, search), text));
  }
  if (search.bodyEdits !== undefined) {
    const splitLines = new Set(splitEvents.flatMap(({ parts }) => parts.map((part) => part.lineStart)));
    const others = search.bodyEdits((lineStart) => splitLines.has(lineStart));
    for (const event of splitEvents) append(others, splitEventEdits(event, search));
    append(edits, outsideOf(fragmented, others));
  }
  return edits.length < 2 ? edits : mergedEdits(edits);
}

/** Edits of a fragmented text, found in the joined text. Findings within a single fragment are redacted as well, because it is stored like that,
 *  and events that only look like fragments may contain complete texts. A denied field found in a single fragment is ignored, because half of one is
 *  not a field. */
function textEdits(stream: string, text: StreamText, framing: Framing, { editsOf, bodyEdits, isCut }: StreamSearch): TextEdit[] {
  const { joined } = text;
  const whole = editsOf(joined);
  const own = bodyEdits === undefined ? [] : ownEdits(stream, text, editsOf);
  const tail = isCut ? dropIncompleteTail(joined).length : joined.length;
  const edits =
    own.length === 0 ? whole : [...(framing === 'lines' && !text.isDelta ? withoutRowOverlaps(whole, own) : whole), ...own];
  if (tail < joined.length) edits.push({ start: tail, end: joined.length, text: '', kinds: [] });
  return edits === whole && tail === joined.length ? whole : mergedEdits(edits);
}

/** Edits of single fragments, as positions in the text. */
function ownEdits(stream: string, text: StreamText, editsOf: StreamSearch['editsOf']): TextEdit[] {
  const edits: TextEdit[] = [];
  let from = 0;
  for (const { fragment } of text.fragmentsIn(stream)) {
    for (const edit of movedEdits(editsOf(fragment), from)) if (!isOfField(edit)) edits.push(edit);
    from += fragment.length;
  }
  return edits;
}

/** Edits of a text without those that only extend the edit of a single fragment. Deltas in lines are declared as such. Other lines may be rows of
 *  a file, and an address at the end of a row must not include the beginning of the next. */
function withoutRowOverlaps(whole: readonly TextEdit[], own: readonly TextEdit[]): TextEdit[] {
  let next = 0;
  return whole.filter((edit) => {
    while ((own[next]?.end ?? Infinity) <= edit.start) next += 1;
    return isOfField(edit) || edit.end <= (own[next]?.start ?? Infinity);
  });
}

function isOfField({ kinds }: TextEdit): boolean {
  return kinds.includes('field_name');
}

function splitEventEdits(event: SplitEvent, { editsOf }: StreamSearch): TextEdit[] {
  return editsOf(event.data).map((edit) => ({
    ...edit,
    start: placeInBody(event, edit.start),
    end: placeInBody(event, edit.end - 1) + 1,
  }));
}

/** Edits outside fragments. Fragments are edited with their joined text. */
function outsideOf(texts: readonly StreamText[], edits: readonly TextEdit[]): readonly TextEdit[] {
  if (edits.length === 0) return edits;
  // Fragments do not overlap.
  const fragments = texts.flatMap(({ spans }) => spans).toSorted((a, b) => a.start - b.start);
  let next = 0;
  return edits
    .toSorted((a, b) => a.start - b.start)
    .filter((edit) => {
      while ((fragments[next]?.end ?? Infinity) < edit.start) next += 1;
      return edit.start < (fragments[next]?.start ?? Infinity) || edit.end > (fragments[next]?.end ?? 0);
    });
}

/** Converts edits of a joined text to edits of the raw fragments. */
function spreadEdits(stream: string, edits: readonly TextEdit[], text: StreamText): TextEdit[] {
  const spread: TextEdit[] = [];
  let next = 0;
  let from = 0;
  if (edits.length === 0) return spread;
  for (const { start, end, fragment } of text.fragmentsIn(stream)) {
    if (next >= edits.length) break;
    const to = from + fragment.length;
    let said = '';
    const kinds: TextEdit['kinds'][number][] = [];
    let kept = from;
    let isChanged = false;
    for (let edit = edits[next]; edit !== undefined && edit.start < to; edit = edits[next]) {
      isChanged = true;
      if (edit.start >= from) {
        said += fragment.slice(kept - from, edit.start - from) + edit.text;
        append(kinds, edit.kinds);
      }
      kept = Math.min(edit.end, to);
      if (edit.end > to) break;
      next += 1;
    }
    if (isChanged) spread.push({ start, end, text: encodedString(said + fragment.slice(kept - from)), kinds });
    from = to;
  }
  return spread;
}
