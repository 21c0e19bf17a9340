import { expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { TokenHashes } from '@vitrine/credentials/token-hashes';
import { ERROR_STATUSES, type ErrorCode } from '@vitrine/stores/resources/error-response';
import { AdmissionControl } from './admission-control.ts';

const noDatabase = () => Promise.reject(new Error('no database is needed'));
const control = () =>
  new AdmissionControl({
    database: { query: noDatabase, execute: noDatabase },
    connections: 2,
    batchConnections: 1,
    peppers: {
      hashes: new TokenHashes([{ version: 1, secret: new Secret('p'.repeat(32)) }]),
      isComplete: true,
      areComplete: () => Promise.resolve(true),
      verified: () => {},
    },
    clock: () => 0,
  });

/** Enough concurrent responses to delay the last ones. */
function delayedOf(code: ErrorCode): number {
  const pacer = control().pacerOf(code);
  for (let n = 0; n < 150; n += 1) pacer?.delayMs();
  return pacer?.delayed ?? 0;
}

test('refusals of keys and of excess requests are delayed in large numbers, and no other response is', () => {
  const codes = Object.keys(ERROR_STATUSES) as ErrorCode[];
  expect(codes.filter((code) => delayedOf(code) > 0)).toEqual(
    codes.filter((code) => ['unauthorized', 'rate_limited', 'overloaded', 'concurrency_limited'].includes(code)),
  );
});
