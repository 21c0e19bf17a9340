import { modelOf, NO_FACTS, type BodyFacts, type BodyFactsReader } from './body-facts.ts';
import { MultipartReader } from './multipart/multipart-reader.ts';

/** Reads the facts of a request that is a form: its model, and what affects the price. */
export class FormFactsReader implements BodyFactsReader {
  readonly #reader: MultipartReader;

  constructor(boundary: string) {
    this.#reader = new MultipartReader(boundary);
  }

  push(chunk: Uint8Array): void {
    this.#reader.push(chunk);
  }

  end(): BodyFacts {
    const { fields, files, textBytes, ended } = this.#reader.end();
    const details = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
    const lengths = files.map(({ seconds }) => seconds);
    const isKnown = lengths.every((seconds) => seconds !== undefined);
    return {
      ...NO_FACTS,
      model: modelOf(details['model']),
      ended,
      details,
      form: {
        textBytes,
        fileBytes: files.reduce((bytes, file) => bytes + file.bytes, 0),
        seconds: isKnown ? lengths.reduce<number>((sum, seconds) => sum + (seconds ?? 0), 0) : undefined,
      },
    };
  }
}
