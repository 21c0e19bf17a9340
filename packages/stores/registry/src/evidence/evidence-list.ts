import { LIST_BOUNDS, TEXT_BOUND } from './evidence.ts';

type ListName = keyof typeof LIST_BOUNDS;

/** A list of evidence during reading: distinct, in page order, bounded. */
export class EvidenceList {
  readonly name: ListName;
  isTruncated = false;
  readonly #values = new Set<string>();

  constructor(name: ListName) {
    this.name = name;
  }

  add(value: string): void {
    if (this.#values.size >= LIST_BOUNDS[this.name]) this.isTruncated ||= !this.#values.has(value);
    else this.#values.add(value.length > TEXT_BOUND ? value.slice(0, TEXT_BOUND) : value);
  }

  values(): string[] {
    return [...this.#values];
  }
}

/** All lists of one page. */
export type EvidenceLists = Readonly<Record<ListName, EvidenceList>>;

const NAMES = Object.keys(LIST_BOUNDS) as ListName[];

export function createEvidenceLists(): EvidenceLists {
  return Object.fromEntries(NAMES.map((name) => [name, new EvidenceList(name)])) as EvidenceLists;
}

export function listValues(lists: EvidenceLists): Record<ListName, string[]> {
  return Object.fromEntries(NAMES.map((name) => [name, lists[name].values()])) as Record<ListName, string[]>;
}
