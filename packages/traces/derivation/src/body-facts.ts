import type { BatchFileReference } from '@vitrine/traces/background-response';
import { BATCH_FILES_MAX } from '@vitrine/traces/trace-values';
import type { BatchUsage } from './token-counts.ts';
import { HostedCallCount, ITEM_FIELDS, type HostedCalls } from './hosted-calls.ts';
import { TOO_LONG, type JsonScanner } from './json-scanner.ts';
import { KeyPaths } from './key-paths.ts';
import { withUsage, type Fields, type UsageReport } from './usage-report.ts';

/** The facts in the body of a request or a response. */
export interface BodyFacts {
  readonly model: string | undefined;
  readonly usage: UsageReport | undefined;
  /** Whether the usage is the provider's last word. Always so in JSON; a stream may end before it. */
  readonly isUsageFinal: boolean;
  /** An error event inside a stream whose status was already 200; never set for JSON. */
  readonly streamError: boolean;
  /** Whether the provider's own end was seen: for JSON the end of the root, for a stream `[DONE]`, `message_stop`, or
   *  `response.completed`, `.incomplete` or `.failed`. */
  readonly ended: boolean;
  /** Other fields that affect the price, under their own names; those of a stream are of its last event that has them. */
  readonly details: Fields;
  readonly calls?: HostedCalls | undefined;
  /** Declared tools that affect the price of their calls. */
  readonly tools?: readonly Fields[] | undefined;
  /** Decoded bytes of JSON; of a stream those of its texts at the most, and the events that may carry text. */
  readonly text?: { readonly bytes: number; readonly events: number } | undefined;
  /** Of a form: the bytes of its texts and of its files, and the seconds of audio in these if they are known. */
  readonly form?: { readonly textBytes: number; readonly fileBytes: number; readonly seconds: number | undefined } | undefined;
  /** Of the results of a batch. */
  readonly batch?: BatchUsage | undefined;
  /** Batches of OpenAI that the body describes, with the files of their results. */
  readonly batchFiles?: readonly BatchFileReference[] | undefined;
  /** The `id` in the root of JSON. */
  readonly id?: string | undefined;
  /** Number of elements of `data`, such as images. */
  readonly items?: number | undefined;
  /** A response of OpenAI's Responses API; undefined for anything else. */
  readonly response?: ResponseState | undefined;
}

export interface ResponseState {
  readonly id: string;
  /** Whether it is neither queued nor in progress. */
  readonly isFinished: boolean;
  /** Whether it is declared as a background response. */
  readonly background: boolean;
}

export const NO_FACTS: BodyFacts = {
  model: undefined,
  usage: undefined,
  isUsageFinal: false,
  streamError: false,
  ended: false,
  details: {},
};

/** Reads facts from a body that arrives in chunks. Constant memory, never throws, and independent of the segmentation. */
export interface BodyFactsReader {
  push(chunk: Uint8Array): void;
  /** The facts; for a cut body, those before the cut. */
  end(): BodyFacts;
}

const MODEL_PATHS = ['model', 'response.model', 'message.model'];
const USAGE_PATHS = ['usage', 'response.usage', 'message.usage'];
const STATE_FIELDS = ['id', 'status', 'background'];
const TOOL_FIELDS = ['type', 'model', 'container', 'environment', 'size', 'quality'];
/** Of requests and responses. */
const DETAILS = ['service_tier', 'tool_usage', 'svg_usage', 'duration'];
const REQUEST_DETAILS = ['background', 'size', 'quality', 'n', 'max_tokens', 'max_completion_tokens', 'max_output_tokens'];

const below = (prefix: string, fields: readonly string[]): string[] => fields.map((field) => `${prefix}${field}`);
const items = (prefix: string): string[] => below(`${prefix}output[].`, ITEM_FIELDS);
const tools = (prefix: string): string[] => below(`${prefix}tools[].`, TOOL_FIELDS);

/** A whole body. */
export const JSON_PATHS = new KeyPaths([
  ...MODEL_PATHS,
  ...USAGE_PATHS,
  'id',
  'status',
  'type',
  'error',
  ...DETAILS,
  ...REQUEST_DETAILS,
  ...items(''),
  ...tools(''),
  'content[].type',
  'output_file_id',
  'data[].id',
  'data[].output_file_id',
]);
/** An event of a stream. */
export const EVENT_PATHS = new KeyPaths([
  ...MODEL_PATHS,
  ...USAGE_PATHS,
  'type',
  'object',
  'error',
  'delta',
  'choices[]',
  ...DETAILS,
  ...below('response.', [...STATE_FIELDS, ...DETAILS]),
  ...items('response.'),
  ...tools('response.'),
  ...below('item.', ITEM_FIELDS),
  'content_block.type',
]);

export function modelIn(scanner: JsonScanner): string | undefined {
  for (const path of MODEL_PATHS) {
    const model = modelOf(scanner.value(path));
    if (model !== undefined) return model;
  }
  return undefined;
}

export function stateIn(scanner: JsonScanner, prefix: '' | 'response.'): ResponseState | undefined {
  const id = scanner.value(`${prefix}id`);
  const status = scanner.value(`${prefix}status`);
  if (typeof id !== 'string' || typeof status !== 'string') return undefined;
  const isFinished = status !== 'queued' && status !== 'in_progress';
  return { id, isFinished, background: scanner.value(`${prefix}background`) === true };
}

/** A model's name is text of at most 256 characters without control characters (PostgreSQL cannot store all of those). */
export function modelOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^\P{Cc}{1,256}$/u.test(value) ? value : undefined;
}

export function usageIn(
  scanner: JsonScanner,
  previous: UsageReport | undefined,
  paths: readonly string[] = USAGE_PATHS,
): UsageReport | undefined {
  const raw = paths.map((path) => scanner.value(path)).find((value) => value !== undefined && value !== null);
  return withUsage(previous, raw);
}

/** The details below a prefix, over earlier ones. */
export function detailsIn(scanner: JsonScanner, prefix: '' | 'response.', previous: Fields): Fields {
  let details = previous;
  for (const [name, path] of prefix === '' ? ROOT_DETAILS : RESPONSE_DETAILS) {
    const value = scanner.value(path);
    if (value !== undefined && value !== null) details = { ...details, [name]: value === TOO_LONG ? 'too long' : value };
  }
  return details;
}

const ROOT_DETAILS = [...DETAILS, ...REQUEST_DETAILS].map((name) => [name, name] as const);
const RESPONSE_DETAILS = DETAILS.map((name) => [name, `response.${name}`] as const);

/** The lists of a body or an event: calls and tools. */
export class ListedFacts {
  readonly #prefix: '' | 'response.';
  #calls = new HostedCallCount();
  #tools: Fields[] = [];
  #files: BatchFileReference[] = [];
  items = 0;

  constructor(prefix: '' | 'response.') {
    this.#prefix = prefix;
  }

  get calls(): HostedCalls | undefined {
    return this.#calls.calls;
  }

  get tools(): readonly Fields[] | undefined {
    return this.#tools.length === 0 ? undefined : this.#tools;
  }

  get files(): readonly BatchFileReference[] {
    return this.#files;
  }

  /** At the end of an element; the first one starts its list again. */
  add(scanner: JsonScanner, path: string, index: number): void {
    if (path === 'data[]') this.#addData(scanner, index);
    else if (path === `${this.#prefix}tools[]`) this.#addTool(scanner, path, index);
    else {
      if (index === 0) this.#calls = new HostedCallCount();
      this.#calls.add(scanner, path);
    }
  }

  #addData(scanner: JsonScanner, index: number): void {
    this.items = index + 1;
    const file = batchFileIn(scanner, 'data[].');
    if (file !== undefined && this.#files.length < BATCH_FILES_MAX) this.#files.push(file);
  }

  #addTool(scanner: JsonScanner, path: string, index: number): void {
    if (index === 0) this.#tools = [];
    const type = scanner.value(`${path}.type`);
    if (typeof type !== 'string' || !PRICED_TOOLS.test(type) || this.#tools.length >= MAX_TOOLS) return;
    this.#tools.push(Object.fromEntries(TOOL_FIELDS.map((name) => [name, scanner.value(`${path}.${name}`)])));
  }
}

const PRICED_TOOLS = /^(?:web_search_preview|code_interpreter|shell|image_generation)/;
const MAX_TOOLS = 16;
export function batchFileIn(scanner: JsonScanner, prefix: '' | 'data[].'): BatchFileReference | undefined {
  const batch = scanner.value(`${prefix}id`);
  const file = scanner.value(`${prefix}output_file_id`);
  return typeof batch === 'string' && typeof file === 'string' ? { batch, file } : undefined;
}
