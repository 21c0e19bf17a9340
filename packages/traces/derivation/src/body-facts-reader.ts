import { modelIn, RESPONSE_PATHS, STATE_FIELDS, stateIn, usageIn, type BodyFacts, type BodyFactsReader } from './body-facts.ts';
import { JsonScanner } from './json-scanner.ts';
import { KeyPaths } from './key-paths.ts';
import { SseFactsReader } from './sse-facts-reader.ts';

const JSON_PATHS = new KeyPaths([...RESPONSE_PATHS, ...STATE_FIELDS]);

export function openBodyFactsReader(kind: 'json' | 'sse'): BodyFactsReader {
  return kind === 'json' ? new JsonFactsReader() : new SseFactsReader();
}

class JsonFactsReader implements BodyFactsReader {
  readonly #scanner = new JsonScanner(JSON_PATHS);

  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk);
  }

  end(): BodyFacts {
    const scanner = this.#scanner;
    const response = stateIn(scanner, '');
    return {
      model: modelIn(scanner),
      usage: usageIn(scanner, undefined),
      streamError: false,
      ended: scanner.closed,
      ...(scanner.value('background') === true && { background: true }),
      ...(response && { response }),
    };
  }
}
