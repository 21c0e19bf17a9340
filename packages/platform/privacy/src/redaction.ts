import { noFindings, type FindingCounts } from './findings.ts';
import { redactPath, scrub } from './scrub.ts';

/** The kind of a body by its content type; undefined for any other. `form`: multipart form data. */
export const BODY_KINDS = [undefined, 'json', 'jsonl', 'sse', 'form'] as const;
export type BodyKind = (typeof BODY_KINDS)[number];

/** Redacts data of an exchange that must not be stored, and counts findings. */
export interface Redaction {
  readonly counts: FindingCounts;
  /** A text other than a body: a name, an id, the value of a header. */
  line(text: string): string;
  path(path: string): string;
  /** Header lines (`header-lines.ts`). */
  headers(lines: string): string;
  /** A body's text; `isCut` when its end is missing. Without this method bodies are kept unchanged. */
  readonly body?: ((text: string, kind: BodyKind, isCut?: boolean) => string) | undefined;
}

/** The redaction with `pii.mode` `off`: only credentials. */
export class Scrubber implements Redaction {
  readonly counts = noFindings();
  readonly body: Redaction['body'];

  /** `inBodies` redacts credentials in bodies; without it they are kept unchanged. */
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
    if (scrub(lines).count === 0) return lines;
    // One by one, because a private key may have several lines.
    return lines
      .split('\n')
      .map((line) => this.line(line))
      .join('\n');
  }

  #counted({ text, count }: { text: string; count: number }): string {
    this.counts.token_like += count;
    return text;
  }
}
