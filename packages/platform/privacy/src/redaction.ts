import { noFindings, type FindingCounts } from './findings.ts';
import { redactPath, scrub } from './scrub.ts';

/** The kind of a body by its content type; undefined: any other. */
export const BODY_KINDS = [undefined, 'json', 'sse'] as const;
export type BodyKind = (typeof BODY_KINDS)[number];

/** Redacts what may not be stored of an exchange, and counts it. */
export interface Redaction {
  readonly counts: FindingCounts;
  /** A text that is no body: a name, an id, the value of a header. */
  line(text: string): string;
  path(path: string): string;
  /** Header lines (`header-lines.ts`). */
  headers(lines: string): string;
  /** A body's text; `isCut` when it has no end. Without it bodies are kept as they are. */
  readonly body?: ((text: string, kind: BodyKind, isCut?: boolean) => string) | undefined;
}

/** The redaction where `pii.mode` is `off`: credentials, and nothing else. */
export class Scrubber implements Redaction {
  readonly counts = noFindings();
  readonly body: Redaction['body'];

  /** `inBodies` redacts credentials in bodies; without it they are kept as they are. */
  constructor(inBodies?: Pick<Redaction, 'counts' | 'body'>) {
    if (inBodies === undefined) return;
    this.counts = inBodies.counts;
    this.body = (text, kind, isCut) => inBodies.body?.(text, kind, isCut) ?? text;
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
