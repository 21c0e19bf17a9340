import { scrub } from './scrub.ts';
import { redactPath } from './redact-path.ts';
import { noFindings } from './findings.ts';
import type { Redaction } from './redaction.ts';
import type { Redactor } from './redactor.ts';

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
