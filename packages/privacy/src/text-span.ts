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

/** The text with each span replaced; they are in their order and do not overlap. */
export function replacedSpans(text: string, spans: readonly Span[], replacement: string): string {
  if (spans.length === 0) return text;
  let replaced = '';
  let at = 0;
  for (const { start, end } of spans) {
    replaced += text.slice(at, start) + replacement;
    at = end;
  }
  return replaced + text.slice(at);
}
