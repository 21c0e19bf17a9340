import type { DayUsage } from './day-usage.ts';
import type { Provider } from './trace.ts';
import type { WriteError } from './write-error.ts';

/** Why a write failed, in the order the classes are tested. Spec: gateway, Metrics; decisions, section 4. */
export const FAILURE_CLASSES = ['timeout', 'connection', 'contention', 'constraint', 'unknown'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** `write_trace` is a batch of one, `write_batch_fallback` an item of a failed batch that was tried again by itself. */
export const WRITE_OPERATIONS = ['write_trace', 'write_batch_fallback'] as const;
export type WriteOperation = (typeof WRITE_OPERATIONS)[number];

export interface WriteFailure {
  readonly operation: WriteOperation;
  readonly error_class: FailureClass;
  readonly count: number;
  /** The first error of the class in the batch. */
  readonly error: WriteError;
}

/** What became of one batch. */
export interface WriteResult {
  readonly written: number;
  readonly failures: readonly WriteFailure[];
  /** What the traces that were written add to their days, when the sink was asked to tell: the queue's owner need not wait for the
   *  store to be read. */
  readonly usage: readonly DayUsage[];
  /** Who used how many tokens, when the sink was asked to tell. */
  readonly tokens?: readonly TokenUse[];
}

/** Tokens that one exchange used, as the provider reported them. */
export interface TokenUse {
  readonly provider: Provider;
  readonly model: string;
  /** Of the request; of what was made in the background, that of the request that made it. */
  readonly path: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** What became of a batch of which nothing was kept, and why. */
export function allLost(count: number, error: WriteError): WriteResult {
  return { written: 0, failures: [{ operation: 'write_trace', error_class: 'unknown', count, error }], usage: [] };
}

/** What a store's error is: its class, and what is told of it. */
export interface ClassifiedError {
  readonly error_class: FailureClass;
  readonly error: WriteError;
}

/** Writes a batch; when that fails, writes its items one by one, so that one bad row costs one row. An item that fails because
 *  the store is busy ends the tries: the rest would each wait as long and fail the same way. `items` is read again then. */
export function writeWithFallback<T>(
  count: number,
  items: () => Iterable<T>,
  writeAll: (items: Iterable<T>) => void,
  classify: (error: unknown) => ClassifiedError,
): WriteResult {
  if (count === 0) return { written: 0, failures: [], usage: [] };
  try {
    writeAll(items());
    return { written: count, failures: [], usage: [] };
  } catch (error) {
    if (count === 1) return { written: 0, failures: [{ operation: 'write_trace', count: 1, ...classify(error) }], usage: [] };
  }
  const lost = new Map<FailureClass, WriteFailure>();
  let tried = 0;
  for (const item of items()) {
    tried += 1;
    try {
      writeAll([item]);
    } catch (error) {
      const { error_class, error: first } = classify(error);
      const untried = error_class === 'contention' ? count - tried : 0;
      const before = lost.get(error_class) ?? { operation: 'write_batch_fallback', error_class, count: 0, error: first };
      lost.set(error_class, { ...before, count: before.count + 1 + untried });
      if (untried > 0) break;
    }
  }
  const failures = [...lost.values()];
  return { written: count - failures.reduce((sum, failure) => sum + failure.count, 0), failures, usage: [] };
}
