import { messageOf } from '@vitrine/faults/fault';
import type { RecordHandler, RejectedRecord } from '@vitrine/kafka/consume/consumed-record';
import { classifyPostgresError } from '@vitrine/postgres/postgres-error';
import type { ScanCause, ScanRequest } from '@vitrine/stores/scans/queue-scans';
import type { JobRunner } from './job-runner.ts';
import type { ScanJobs } from './scan-jobs.ts';
import type { ScanSlots } from './scan-slots.ts';
import { z } from 'zod';

/** How long a message waits for a slot before the consumer gets control back to maintain its group membership. */
const SLOT_WAIT_MS = 5_000;
const MALFORMED = 'malformed_message';

interface RequestHandlerTools {
  readonly jobs: Pick<ScanJobs, 'claim'>;
  readonly slots: ScanSlots;
  readonly runner: Pick<JobRunner, 'claim'>;
  /** The job was taken by another delivery or has ended. */
  readonly onDuplicate: () => void;
}

/** Takes the jobs of messages. Each waits for a slot and is durably claimed before its offset is committed. It runs after that, so a topic's lag
 *  counts jobs that no process has taken yet. Use batches of one record, because a batch waits for its last record. */
export function createRequestHandler(cause: ScanCause, { jobs, slots, runner, onDuplicate }: RequestHandlerTools): RecordHandler {
  return async (records) => {
    const rejected: RejectedRecord[] = [];
    for (const record of records) {
      const request = decodeScanRequest(record.value);
      if (request === undefined) {
        rejected.push({ record, errorClass: MALFORMED, reason: 'it is not a JSON object with scan_job_id and domain' });
        continue;
      }
      if (!(await slots.take(cause, SLOT_WAIT_MS))) return { status: 'deferred' };
      try {
        if (!(await runner.claim(() => jobs.claim(request.scan_job_id)))) onDuplicate();
      } catch (error) {
        return { status: 'unavailable', errorClass: classifyPostgresError(error), reason: messageOf(error) };
      }
    }
    return { status: 'done', rejected };
  };
}

const MAX_BYTES = 4_096;

const shape = z.object({ scan_job_id: z.string().regex(/^job_[0-9a-z]{26}$/), domain: z.string().min(3).max(253) });

/** Decodes a message of the scan topics. Undefined for a malformed message. Unknown fields are ignored. */
export function decodeScanRequest(value: Uint8Array | null): ScanRequest | undefined {
  if (value === null || value.length > MAX_BYTES) return undefined;
  try {
    return shape.safeParse(JSON.parse(Buffer.from(value).toString())).data;
  } catch {
    return undefined;
  }
}
