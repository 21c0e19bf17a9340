import { scrub } from '@vitrine/privacy/scrub';

/** Labels for a missing value, and for values beyond the bound. Spec: G14.34. */
export const UNKNOWN = 'unknown';
export const OTHER = 'other';

const LABEL_MAX_CHARACTERS = 128;

/** A value for a label: trimmed, scrubbed, cut at 128 characters, `unknown` when missing or empty.
 *  Spec: G13.1. */
export function labelOf(value: string | undefined): string {
  const trimmed = value?.slice(0, 4 * LABEL_MAX_CHARACTERS).trim() ?? '';
  return trimmed === '' ? UNKNOWN : scrub(trimmed).text.slice(0, LABEL_MAX_CHARACTERS);
}

/** Names that come from clients, at most `capacity` of them; any further one is `other`. A name without a successful request is accepted only
 *  while less than a quarter is full, so that no client can fill the table with invented names. */
export class BoundedNames {
  /** How often a name became `other`. */
  collapsed = 0;
  readonly #capacity: number;
  readonly #labels = new Map<string, string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The name's label. `isProven`: a request with it has succeeded. */
  labelOf(name: string | undefined, isProven: boolean): string {
    if (name === undefined || name === '') return UNKNOWN;
    const known = this.#labels.get(name);
    if (known !== undefined) return known;
    if (this.#labels.size >= (isProven ? this.#capacity : this.#capacity / 4)) {
      this.collapsed += 1;
      return OTHER;
    }
    const label = labelOf(name);
    this.#labels.set(name, label);
    return label;
  }
}
