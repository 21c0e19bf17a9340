import type { BodyKind } from '@vitrine/privacy/redaction';
import { BatchResultsReader } from './batch-results-reader.ts';
import {
  batchFileIn,
  detailsIn,
  JSON_PATHS,
  ListedFacts,
  modelIn,
  stateIn,
  usageIn,
  type BodyFacts,
  type BodyFactsReader,
} from './body-facts.ts';
import { FormFactsReader } from './form-facts-reader.ts';
import { JsonScanner } from './json-scanner.ts';
import { SseFactsReader } from './sse-facts-reader.ts';

/** `boundary`: of a form; without a valid one nothing is found. */
export function openBodyFactsReader(kind: NonNullable<BodyKind>, boundary?: string): BodyFactsReader {
  if (kind === 'jsonl') return new BatchResultsReader();
  if (kind === 'form') return new FormFactsReader(boundary ?? '');
  return kind === 'json' ? new JsonFactsReader() : new SseFactsReader();
}

class JsonFactsReader implements BodyFactsReader {
  readonly #lists = new ListedFacts('');
  readonly #scanner: JsonScanner = new JsonScanner(JSON_PATHS, (path, index) => this.#lists.add(this.#scanner, path, index));

  #bytes = 0;

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#scanner.push(chunk);
  }

  end(): BodyFacts {
    const scanner = this.#scanner;
    const id = scanner.value('id');
    const file = batchFileIn(scanner, '');
    return {
      model: modelIn(scanner),
      usage: usageIn(scanner, undefined),
      isUsageFinal: true,
      streamError: false,
      ended: scanner.closed,
      details: detailsIn(scanner, '', {}),
      calls: this.#lists.calls,
      tools: this.#lists.tools,
      items: this.#lists.items,
      text: { bytes: this.#bytes, events: 1 },
      id: typeof id === 'string' ? id : undefined,
      batchFiles: file === undefined ? this.#lists.files : [file],
      response: stateIn(scanner, ''),
    };
  }
}
