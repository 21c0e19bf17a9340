import type { FindingKind } from './findings.ts';

/** A part of a text, from one index up to another. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Spans in order; overlapping or adjacent ones are merged. */
export function mergedSpans(spans: readonly Span[]): Span[] {
  if (spans.length < 2) return [...spans];
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last === undefined || start > last.end) merged.push({ start, end });
    else last.end = Math.max(last.end, end);
  }
  return merged;
}

/** A replacement for a part of a text, and the kind of finding. */
export interface TextEdit extends Span {
  readonly text: string;
  readonly kinds: readonly FindingKind[];
}

/** Applies edits to a text. They must be in order and must not overlap. */
export function editedText(text: string, edits: readonly Omit<TextEdit, 'kinds'>[]): string {
  let edited = '';
  let at = 0;
  for (const edit of edits) {
    edited += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return edited + text.slice(at);
}

/** Adds to the end of a list. `push(...more)` throws from about 100,000 items on, because arguments are on the stack. A megabyte of addresses has
 *  that many. */
export function append<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one);
}

/** Shifts edits to a longer text in which this one begins at `by`. */
export function movedEdits(edits: readonly TextEdit[], by: number): TextEdit[] {
  return edits.map((edit) => ({ ...edit, start: edit.start + by, end: edit.end + by }));
}

/** Converts edits of a part of the text to edits of that part alone. */
export function editsWithin(edits: readonly TextEdit[], from: number, to: number): TextEdit[] {
  return edits
    .filter(({ start, end }) => start < to && end > from)
    .map((edit) => ({ ...edit, start: Math.max(edit.start, from) - from, end: Math.min(edit.end, to) - from }));
}

/** Merges edits of several sources in order. Of overlapping edits the first stays, or the longer one if both begin together, and it is extended
 *  over the rest of the others. */
export function mergedEdits(edits: readonly TextEdit[]): TextEdit[] {
  const kept: TextEdit[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1);
    if (last === undefined || edit.start >= last.end) kept.push(edit);
    else if (edit.end > last.end) kept[kept.length - 1] = { ...last, end: edit.end };
  }
  return kept;
}

/** The number of positions from 0 to `count` that satisfy `isBefore`, which is true only for a prefix. Found by bisection. */
export function countBefore(count: number, isBefore: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
