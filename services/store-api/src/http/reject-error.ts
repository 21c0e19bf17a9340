import { codeOf, isFault } from '@vitrine/faults/fault';
import { isOverload } from '@vitrine/postgres/postgres-error';
import { rejection, type ApiRejection } from '../contract/api-exchange.ts';
import { FAULT_CODES } from '../contract/error-codes.ts';
import { REQUEST_TIMEOUT_MS, tooLate } from './request-deadline.ts';

/** Faults whose message is sent to the client. For others the client gets a generic failure. */
const CLIENT_VISIBLE_FAULTS: ReadonlySet<string> = new Set(['deadline_exceeded', 'billing_unknown', 'key_unverifiable']);
const OVERLOADED = 'The service is overloaded; retry after a second.';

/** SQLSTATEs of a statement that was cancelled or did not get its lock within 10 s, the time limit of the database. */
const STATEMENT_TIMEOUTS: ReadonlySet<string> = new Set(['57014', '55P03']);

/**
 * The client's view of an error. `isAdmitted`: whether the request has begun. A request that waited for admission until its deadline
 * counts as overload. Spec: S6.5, S6.21.
 */
export function rejectionOfError(error: unknown, isAdmitted: boolean): ApiRejection {
  if (STATEMENT_TIMEOUTS.has(codeOf(error))) return rejectionOfError(tooLate(REQUEST_TIMEOUT_MS, error), isAdmitted);
  const isLate = codeOf(error) === 'deadline_exceeded';
  if (codeOf(error) === 'overloaded' || isOverload(error) || (isLate && !isAdmitted))
    return rejection('overloaded', OVERLOADED, { headers: ['Retry-After', '1'], cause: error });
  const code = FAULT_CODES[codeOf(error)];
  const details = codeOf(error) === 'body_timeout' ? { status: 408, headers: ['Connection', 'close'] } : {};
  if (code !== undefined && isFault(error)) return rejection(code, error.say, details);
  const isVisible = isFault(error) && CLIENT_VISIBLE_FAULTS.has(error.code);
  const message = isVisible ? error.say : 'The service failed; retry once after a few seconds.';
  // Another replica may be able to verify the key.
  const again = codeOf(error) === 'key_unverifiable' ? { status: 503, headers: ['Retry-After', '5'] } : {};
  return rejection('internal', message, { cause: error, reason: codeOf(error), ...again });
}
