import { codeOf, messageOf } from '@vitrine/faults/fault';
import type { RecordPublisher } from '../publish/publish-result.ts';
import type { ConsumedRecord, RecordHandler, RejectedRecord } from './consumed-record.ts';
import { deadLetter } from './dead-letter.ts';

/** How often a record that fails on its own is tried before it becomes a dead letter. */
const RECORD_ATTEMPTS = 3;
const FIRST_RETRY_MS = 50;

export interface ProcessorTools {
  readonly handle: RecordHandler;
  /** Publishes to the dead letter topic. */
  readonly deadLetters: RecordPublisher;
  readonly onDeadLetter: (rejected: RejectedRecord, attempts: number) => void;
  /** Sleeps. */
  readonly wait: (ms: number) => Promise<unknown>;
}

/** Undefined when all records are processed or dead letters; otherwise why processing is not possible now. */
export type Hindrance = { readonly errorClass: string; readonly reason: string } | 'deferred' | undefined;

/** Processes records with a handler. When the handler throws, the batch is halved until the failing record is found. That record becomes a dead
 *  letter, and all others are processed. At most 2 calls per record and RECORD_ATTEMPTS for each that fails. */
export async function processBatch(
  records: readonly ConsumedRecord[],
  tools: ProcessorTools,
  attempt: number = 1,
): Promise<Hindrance> {
  try {
    const result = await tools.handle(records);
    if (result.status === 'deferred') return 'deferred';
    if (result.status === 'unavailable') return result;
    return await publishDeadLetters(result.rejected ?? [], attempt, tools);
  } catch (error) {
    const [only] = records;
    if (only === undefined) return undefined;
    if (records.length > 1) return await processHalves(records, tools);
    if (attempt === RECORD_ATTEMPTS) {
      const errorClass = codeOf(error) || (error instanceof Error ? error.name : typeof error);
      const rejected = { record: only, errorClass, reason: messageOf(error) };
      return await publishDeadLetters([rejected], attempt, tools);
    }
    await tools.wait(FIRST_RETRY_MS * 2 ** (attempt - 1));
    return await processBatch(records, tools, attempt + 1);
  }
}

async function processHalves(records: readonly ConsumedRecord[], tools: ProcessorTools): Promise<Hindrance> {
  const middle = records.length >> 1;
  return (await processBatch(records.slice(0, middle), tools)) ?? (await processBatch(records.slice(middle), tools));
}

async function publishDeadLetters(
  rejected: readonly RejectedRecord[],
  attempts: number,
  { deadLetters, onDeadLetter }: ProcessorTools,
): Promise<Hindrance> {
  if (rejected.length === 0) return undefined;
  const letters = rejected.map((one) => deadLetter(one, attempts));
  let results = await deadLetters.publish(letters);
  // The headers may push a record over the limit. Then only the headers are kept.
  const tooLarge = letters.filter((_, at) => results[at] === 'too_large');
  if (tooLarge.length > 0) {
    const withoutValues = await deadLetters.publish(tooLarge.map((letter) => ({ ...letter, value: null })));
    results = [...results.filter((result) => result !== 'too_large'), ...withoutValues];
  }
  const failed = results.find((result) => result !== 'published');
  if (failed !== undefined) return { errorClass: failed, reason: `dead letters were not published: ${failed}` };
  for (const one of rejected) onDeadLetter(one, attempts);
  return undefined;
}
