/** A function that reads foreign bytes, and how it is called with growing inputs. */
export interface ForeignBytesCase {
  /** The file and the function or class, such as `packages/platform/privacy/src/scrub.ts#scrub`. */
  readonly of: string;
  readonly run: (input: string) => unknown;
  /** How to embed the foreign text in an input; by default it is the whole input. */
  readonly forms?: readonly Form[];
}

export type Form = (text: string) => string;

export const plain: Form = (text) => text;
/** What a client sends to a model. */
export const inRequest: Form = (text) => JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: text }] });
/** JSON in a string of JSON, as arguments of tools are. */
export const inArguments: Form = (text) => JSON.stringify({ model: 'gpt-4o', arguments: JSON.stringify({ text }) });
/** Output of a model, in events of 32 characters. */
export const inEvents: Form = (text) =>
  (text.match(/[^]{1,32}/g) ?? [])
    .map((part) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: part } }] })}\n\n`)
    .join('');
/** As broken events and broken JSON. */
export const inBrokenEvents: Form = (text) => `data: ${text}\n\ndata: {"a":"${text}`;

export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

const CHUNK_BYTES = 1_024;

/** The same bytes as they come from a connection. */
export function chunksOf(text: string): Buffer[] {
  const bytes = bytesOf(text);
  return Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, at) =>
    bytes.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES),
  );
}

/** Runs a function that may refuse its input. A refusal is a result. */
export function ignoringFaults(run: () => unknown): void {
  try {
    run();
  } catch {
    // Malformed input is refused.
  }
}
