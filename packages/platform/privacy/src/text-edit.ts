import type { FindingKind } from './findings.ts';

/** A part of a text, from one index up to another. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Spans in their order; those that overlap or touch are made one. */
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

/** A replacement for a part of a text, and what was found there. */
export interface TextEdit extends Span {
  readonly text: string;
  readonly kinds: readonly FindingKind[];
}

/** The text with its edits made; they are in their order and do not overlap. */
export function editedText(text: string, edits: readonly Omit<TextEdit, 'kinds'>[]): string {
  let edited = '';
  let at = 0;
  for (const edit of edits) {
    edited += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return edited + text.slice(at);
}

/** Adds to the end of a list. `push(...more)` throws from some 100,000 on, which a megabyte of addresses has: arguments stand on the stack. */
export function append<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one);
}

/** The same edits in a longer text, in which this one begins at `by`. */
export function movedEdits(edits: readonly TextEdit[], by: number): TextEdit[] {
  return edits.map((edit) => ({ ...edit, start: edit.start + by, end: edit.end + by }));
}

/** Edits of a part of the text, as edits of that part alone. */
export function editsWithin(edits: readonly TextEdit[], from: number, to: number): TextEdit[] {
  return edits
    .filter(({ start, end }) => start < to && end > from)
    .map((edit) => ({ ...edit, start: Math.max(edit.start, from) - from, end: Math.min(edit.end, to) - from }));
}

/** Edits of several makers in their order. Of those that overlap the one that begins first stays, the longer when both do, and takes in
 *  what the others cover beyond its end. */
export function mergedEdits(edits: readonly TextEdit[]): TextEdit[] {
  const kept: TextEdit[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1);
    if (last === undefined || edit.start >= last.end) kept.push(edit);
    else if (edit.end > last.end) kept[kept.length - 1] = { ...last, end: edit.end };
  }
  return kept;
}

/** How many of the positions from 0 to `count` satisfy `isBefore`, which holds for the first ones only. Found by bisection. */
export function countBefore(count: number, isBefore: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
