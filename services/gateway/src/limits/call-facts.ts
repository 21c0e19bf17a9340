import { JsonScanner } from '@vitrine/trace-derivation/json-scanner';
import { KeyPaths } from '@vitrine/trace-derivation/key-paths';
import { boundaryOf } from '@vitrine/trace-derivation/multipart/boundary';
import { MultipartReader } from '@vitrine/trace-derivation/multipart/multipart-reader';

const FIELDS = new KeyPaths(['model', 'stream', 'stream_options.include_usage']);

/** What a request says about its cost. */
interface CallFacts {
  /** As sent, of any type; undefined if there is none, or more than one in a form. */
  readonly model: unknown;
  readonly isStream: boolean;
  /** Whether a stream is to end with its usage. */
  readonly asksForUsage: boolean;
}

/** The facts in a whole body; undefined when it is neither JSON nor a form. About 1.5 ms a megabyte. */
export function callFacts(contentType: string | undefined, body: Buffer): CallFacts | undefined {
  const boundary = boundaryOf(contentType);
  return boundary === undefined ? factsOfJson(body) : factsOfForm(boundary, body);
}

function factsOfJson(body: Buffer): CallFacts | undefined {
  const scanner = new JsonScanner(FIELDS);
  scanner.push(body);
  if (!scanner.closed) return undefined;
  const stream = scanner.value('stream');
  return {
    model: scanner.value('model'),
    isStream: stream !== undefined && stream !== null && stream !== false,
    asksForUsage: scanner.value('stream_options.include_usage') === true,
  };
}

function factsOfForm(boundary: string, body: Buffer): CallFacts | undefined {
  const reader = new MultipartReader(boundary);
  reader.push(body);
  const { fields, isIncomplete, ended } = reader.end();
  if (isIncomplete || !ended) return undefined;
  const models = fields.filter(({ name }) => name === 'model');
  // Servers differ in which of several they take.
  const model = models.length === 1 ? models[0]?.value : undefined;
  return { model, isStream: fields.some(({ name }) => name === 'stream'), asksForUsage: false };
}
