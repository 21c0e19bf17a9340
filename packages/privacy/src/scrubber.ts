import { scrub } from './scrub.ts';
import type { BodyKind } from './body-kind.ts';
import { redactPath } from './redact-path.ts';
import { noFindings, type FindingCounts } from './findings.ts';
import type { Redactor } from './redactor.ts';

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

/** The redaction where `pii.mode` is `off`: credentials, and nothing else. */
export class Scrubber implements Redaction {
  readonly counts = noFindings();
  readonly body: Redaction['body'];

  /** `inBodies` redacts credentials in bodies; without it they are kept as they are. */
  constructor(inBodies?: Redactor) {
    if (inBodies === undefined) return;
    this.counts = inBodies.counts;
    this.body = (text, bytes, kind, isCut) => inBodies.body(text, bytes, kind, isCut);
  }

  line(text: string): string {
    return this.#counted(scrub(text));
  }

  path(path: string): string {
    return this.#counted(redactPath(path));
  }

  headers(lines: string): string {
    return this.line(lines);
  }

  #counted({ text, count }: { text: string; count: number }): string {
    this.counts.token_like += count;
    return text;
  }
}
