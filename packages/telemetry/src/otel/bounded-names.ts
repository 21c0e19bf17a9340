import { scrub } from '@vitrine/privacy/scrub';

/** What a label says when its value is missing, and when there are too many values. Spec: gateway, Metrics. */
export const UNKNOWN = 'unknown';
export const OTHER = 'other';

const LABEL_MAX_CHARACTERS = 128;

/** A value as a label may carry it: trimmed, scrubbed, cut at 128 characters, `unknown` when missing or empty.
 *  Spec: gateway, Credential scrubbing. */
export function labelOf(value: string | undefined): string {
  const trimmed = value?.slice(0, 4 * LABEL_MAX_CHARACTERS).trim() ?? '';
  return trimmed === '' ? UNKNOWN : scrub(trimmed).text.slice(0, LABEL_MAX_CHARACTERS);
}

/** Names that come from clients, at most `capacity` of them; any further one is `other`. A name that has only failed is taken while
 *  less than a quarter is full, so that nobody can fill the table with inventions that no provider knows. */
export class BoundedNames {
  /** How often a name became `other`. */
  collapsed = 0;
  readonly #capacity: number;
  readonly #labels = new Map<string, string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The name's label. `isProven`: the provider has accepted it. */
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
