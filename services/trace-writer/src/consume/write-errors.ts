import { classifyPostgresError } from '@vitrine/postgres/postgres-error';
import type { RecordFailure } from '@vitrine/traces/record-writer';
import { writeErrorOf } from '@vitrine/traces/write-error';

/** Classes of SQLSTATEs that no record causes: the transaction cannot be written here (a read-only standby), tables or rights are missing,
 *  the disk is full, the server is stopping or damaged (PostgreSQL, Appendix A). */
const SERVER_STATES = new Set(['25', '42', '53', '57', '58', 'XX']);

/** Whether the same record may be written later: then it is not the record's fault. */
export function isTemporary({ error_class: errorClass, error }: Pick<RecordFailure, 'error_class' | 'error'>): boolean {
  if (errorClass === 'unknown') return error.code.length === 5 && SERVER_STATES.has(error.code.slice(0, 2));
  return errorClass !== 'constraint';
}

/** What a writer threw, as the failure of one record. */
export function failureOf(error: unknown): RecordFailure {
  return { operation: 'write_trace', error_class: classifyPostgresError(error), error: writeErrorOf(error) };
}
