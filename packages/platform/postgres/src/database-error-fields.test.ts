import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { backoffMs } from './backoff.ts';
import { databaseErrorFields } from './database-error-fields.ts';

test.each([
  ['28P01', 'password authentication failed for user "u"', 'connection', /user and password/],
  ['3D000', 'database "d" does not exist', 'connection', /create the database/],
  ['42501', 'permission denied for table traces', 'unknown', /role/],
  ['42P01', 'relation "traces" does not exist', 'unknown', /npm run migrate/],
  ['53300', 'too many clients already', 'connection', /max_connections/],
  ['53100', 'could not extend file: No space left on device', 'unknown', /disk/],
  ['57P03', 'the database system is starting up', 'connection', /is starting or stopping/],
  ['ECONNREFUSED', 'connect ECONNREFUSED', 'connection', /start the database/],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate', 'connection', /sslrootcert/],
  ['', 'The server does not support SSL connections', 'connection', /sslmode/],
  ['28000', 'no pg_hba.conf entry for host "h", user "u", database "d", no encryption', 'connection', /sslmode/],
  ['28000', 'connection requires a valid client certificate', 'connection', /sslcert and sslkey/],
  ['ENOENT', "ENOENT: no such file or directory, open 'ca.pem'", 'connection', /path of sslrootcert/],
  ['57014', 'canceling statement due to statement timeout', 'timeout', /load/],
  ['23514', 'violates check constraint', 'constraint', /report it/],
  ['', 'something else', 'unknown', /err/],
])('%s %s is %s', (code, message, errorClass, nextStep) => {
  const err = Object.assign(new Error(message), { code });
  expect(databaseErrorFields(err)).toEqual({ err, error_class: errorClass, next_step: expect.stringMatching(nextStep) });
});

test('pauses double up to their bound and are shortened by at most half', () => {
  const bounds = { firstMs: 100, maxMs: 15_000 };
  expect([0, 1, 2, 7, 8, 1_000].map((retry) => backoffMs(retry, bounds, 0))).toEqual([100, 200, 400, 12_800, 15_000, 15_000]);
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (retry, random) => {
      const pause = backoffMs(retry, bounds, random);
      return pause <= backoffMs(retry, bounds, 0) && pause >= backoffMs(retry, bounds, 0) / 2;
    }),
  );
});
