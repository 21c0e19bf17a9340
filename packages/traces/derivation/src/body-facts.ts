import type { JsonScanner } from './json-scanner.ts';
import { readUsage, type Usage } from './usage.ts';

/** The facts in a provider's response. */
export interface BodyFacts {
  readonly model: string | undefined;
  readonly usage: Usage | undefined;
  /** An error event inside a stream whose status was already 200; never set for JSON. */
  readonly streamError: boolean;
  /** Whether the provider's own end was seen: for JSON the end of the root, for a stream `[DONE]`, `message_stop`, or
   *  `response.completed`, `.incomplete` or `.failed`. */
  readonly ended: boolean;
  /** Whether JSON has `background: true` in its root, which requests a background response. */
  readonly background?: true;
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

export const NO_FACTS: BodyFacts = { model: undefined, usage: undefined, streamError: false, ended: false };

/** Reads facts from a body that arrives in chunks. Constant memory, never throws, and independent of the segmentation. */
export interface BodyFactsReader {
  push(chunk: Uint8Array): void;
  /** The facts; for a cut body, those before the cut. */
  end(): BodyFacts;
}

const MODEL_PATHS = ['model', 'response.model', 'message.model'];
const USAGE_PATHS = ['usage', 'response.usage', 'message.usage'];
export const RESPONSE_PATHS: readonly string[] = [...MODEL_PATHS, ...USAGE_PATHS, 'type', 'error'];
/** Paths in a JSON response, and in the events of a stream. */
export const STATE_FIELDS = ['id', 'status', 'background'] as const;

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
function modelOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^\P{Cc}{1,256}$/u.test(value) ? value : undefined;
}

export function usageIn(scanner: JsonScanner, previous: Usage | undefined): Usage | undefined {
  const raw = USAGE_PATHS.map((path) => scanner.value(path)).find((value) => value !== undefined && value !== null);
  return typeof raw === 'object' ? readUsage(raw, previous) : previous;
}
