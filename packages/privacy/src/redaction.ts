import type { BodyKind } from './body-kind.ts';
import type { FindingCounts } from './findings.ts';

/** Redacts what may not be stored of an exchange, and counts it. */
export interface Redaction {
  readonly counts: FindingCounts;
  /** A text that is no body: a name, an id, the value of a header. */
  line(text: string): string;
  path(path: string): string;
  /** Header lines (`header-lines.ts`). */
  headers(lines: string): string;
  /** A body's text; `isCut` when it has no end. `bytes` are the same text, in UTF-8 or latin-1. Without it bodies are kept as they are. */
  readonly body?: ((text: string, bytes: Uint8Array, kind: BodyKind, isCut?: boolean) => string) | undefined;
}
