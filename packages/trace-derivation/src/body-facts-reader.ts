import {
  modelIn,
  modelOf,
  RESPONSE_PATHS,
  STATE_FIELDS,
  stateIn,
  usageIn,
  type BodyFacts,
  type BodyFactsReader,
} from './body-facts.ts';
import { JsonScanner } from './json-scanner.ts';
import { SseFactsReader } from './sse-facts-reader.ts';

/** Reads the model's name from a JSON request. */
export interface RequestModelReader {
  push(chunk: Uint8Array): void;
  /** Whether more of the body cannot change the answer. */
  readonly done: boolean;
  model(): string | undefined;
}

const JSON_PATHS: readonly string[] = [...RESPONSE_PATHS, ...STATE_FIELDS];
const REQUEST_PATHS: readonly string[] = ['model'];
const BACKGROUND_PATHS: readonly string[] = ['background'];

export function openBodyFactsReader(kind: 'json' | 'sse'): BodyFactsReader {
  return kind === 'json' ? new JsonFactsReader() : new SseFactsReader();
}

/** Of a repeated `model` the first one counts: scanning stops there, which spares the rest of long requests. */
export function openRequestModelReader(): RequestModelReader {
  const scanner = new JsonScanner(REQUEST_PATHS, { stopAtFirst: true });
  return {
    push: (chunk) => scanner.push(chunk),
    get done() {
      return scanner.done;
    },
    model: () => modelOf(scanner.value('model')),
  };
}

/** Whether the JSON of a request asks for a response in the background. */
export function asksForBackground(body: Uint8Array): boolean {
  const scanner = new JsonScanner(BACKGROUND_PATHS);
  scanner.push(body);
  return scanner.value('background') === true;
}

class JsonFactsReader implements BodyFactsReader {
  readonly #scanner = new JsonScanner(JSON_PATHS);

  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk);
  }

  end(): BodyFacts {
    const scanner = this.#scanner;
    const response = stateIn(scanner, '');
    const facts = { model: modelIn(scanner), usage: usageIn(scanner, undefined), streamError: false, ended: scanner.closed };
    return response === undefined ? facts : { ...facts, response };
  }
}
