import type { PageClass } from '@vitrine/registry/evidence/evidence';
import type { ScanCapture } from '../../scan/scan-ports.ts';

const MAX_NOTE_LENGTH = 400;

/** The result of a page class other than home. `excluded`: excluded by robots.txt. */
type ClassResult = 'read' | 'missing' | 'excluded';

/** Tracks which page classes a scan covered. A class that robots.txt excludes is not planned. `full` means that every planned class was read. */
export class Coverage {
  readonly #results = new Map<PageClass, ClassResult>();
  readonly #notes = new Set<string>();

  record(pageClass: PageClass, result: ClassResult): void {
    this.#results.set(pageClass, result);
  }

  note(sentence: string): void {
    this.#notes.add(sentence);
  }

  get scope(): ScanCapture['scope'] {
    const results = [...this.#results.values()];
    if (!results.includes('read')) return 'homepage_only';
    return results.includes('missing') ? 'partial' : 'full';
  }

  /** Human-readable. Null when the scan covered everything. */
  get text(): string | null {
    const missing = [...this.#results].filter(([, result]) => result === 'missing').map(([pageClass]) => pageClass);
    const notes = [...this.#notes, ...(missing.length === 0 ? [] : [`No ${missing.join(', ')} page was read.`])];
    return notes.length === 0 ? null : notes.join(' ').slice(0, MAX_NOTE_LENGTH);
  }
}
