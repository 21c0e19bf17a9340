import { expect, test } from '@jest/globals';
import { isExpected, statusOf } from '@vitrine/http-api/send-fault';
import { FAULT_STATUSES } from './admin-app.ts';

test.each([
  ['gateway_keys_read_only', 501, true],
  ['key_verification_unavailable', 503, true],
  ['unauthorized', 401, true],
  ['gateway_key_exists', 409, true],
  ['invalid_query', 400, true],
  ['trace_store_unavailable', 503, false],
  ['key_store_unavailable', 503, false],
  ['pepper_unusable', 503, false],
])('%s has status %i; expected, therefore not logged as a failure: %s', (code, status, expected) => {
  expect([statusOf(code, FAULT_STATUSES), isExpected(code, FAULT_STATUSES)]).toEqual([status, expected]);
});
