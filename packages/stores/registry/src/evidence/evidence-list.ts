import { LIST_BOUNDS, TEXT_BOUND } from './evidence.ts';

/** A list of evidence while a page is read: distinct, in the order of the page, bounded. */
export class EvidenceList {
  readonly name: keyof typeof LIST_BOUNDS;
  readonly #values = new Set<string>();
  #isTruncated = false;

  constructor(name: keyof typeof LIST_BOUNDS) {
    this.name = name;
  }

  add(value: string): void {
    if (this.#values.size >= LIST_BOUNDS[this.name]) this.#isTruncated ||= !this.#values.has(value);
    else this.#values.add(value.length > TEXT_BOUND ? value.slice(0, TEXT_BOUND) : value);
  }

  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  values(): string[] {
    return [...this.#values];
  }
}
