import type { JsonScanner } from './json-scanner.ts';
import { fieldsOf } from './usage-report.ts';

/** Calls of tools that the provider runs and bills, as a response lists them. */
export interface HostedCalls {
  readonly webSearches: number;
  readonly fileSearches: number;
  /** Different containers in which code ran. */
  readonly containers: readonly string[];
  readonly images: readonly GeneratedImage[];
}

interface GeneratedImage {
  readonly size: string;
  readonly quality: string;
}

/** The fields of an item that are read. */
export const ITEM_FIELDS = ['type', 'action', 'container_id', 'environment', 'size', 'quality'] as const;
/** More different containers or images than one response has. */
const MAX_LISTED = 256;

/** Counts the calls of one list of items. */
export class HostedCallCount {
  #webSearches = 0;
  #fileSearches = 0;
  #containers = new Set<string>();
  #images: GeneratedImage[] = [];

  get calls(): HostedCalls | undefined {
    const found = { webSearches: this.#webSearches, fileSearches: this.#fileSearches };
    const isEmpty = this.#webSearches + this.#fileSearches + this.#containers.size + this.#images.length === 0;
    return isEmpty ? undefined : { ...found, containers: [...this.#containers], images: this.#images };
  }

  /** Adds the item whose fields are below `path`. */
  add(scanner: JsonScanner, path: string): void {
    const field = (name: (typeof ITEM_FIELDS)[number]): unknown => scanner.value(`${path}.${name}`);
    const type = field('type');
    // Opening a page and finding in it belong to the search before them.
    if (type === 'web_search_call') this.#webSearches += isSearch(field('action')) ? 1 : 0;
    // The result of Anthropic's search.
    else if (type === 'web_search_tool_result') this.#webSearches += 1;
    else if (type === 'file_search_call') this.#fileSearches += 1;
    else if (type === 'code_interpreter_call') this.#addContainer(field('container_id'));
    else if (type === 'shell_call') this.#addContainer(fieldsOf(field('environment'))['container_id']);
    else if (type === 'image_generation_call' && this.#images.length < MAX_LISTED)
      this.#images.push({ size: textOf(field('size')), quality: textOf(field('quality')) });
  }

  #addContainer(id: unknown): void {
    if (typeof id === 'string' && this.#containers.size < MAX_LISTED) this.#containers.add(id.slice(0, MAX_LISTED));
  }
}

/** Older calls have no action. */
function isSearch(action: unknown): boolean {
  const { type } = fieldsOf(action);
  return type === undefined || type === 'search';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_LISTED) : '';
}
