import type { RecordBatch } from '@vitrine/traces/record-writer';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import type { BackgroundClaims, BackgroundWork, PostgresBackgroundResponses } from './postgres-background-responses.ts';
import { storableRecord } from './storable-record.ts';

/** A record, or why it could not be made. */
export type ReadRecord =
  | { readonly record: TraceRecord; readonly work: BackgroundWork | undefined }
  | { readonly error: unknown };

/** Makes the records of a batch, as Postgres can hold them, with the claims on responses in the background that they may count. A record that
 *  cannot be made is lost alone. */
export function readBatch(batch: RecordBatch, background: PostgresBackgroundResponses, claims?: BackgroundClaims): ReadRecord[] {
  background.start(claims);
  const reading = batch.records()[Symbol.iterator]();
  const read: ReadRecord[] = [];
  while (read.length < batch.count) {
    try {
      const next = reading.next();
      if (next.done === true) break;
      read.push({ record: storableRecord(next.value), work: background.takeWork() });
    } catch (error) {
      background.takeWork();
      read.push({ error });
    }
  }
  return read;
}
