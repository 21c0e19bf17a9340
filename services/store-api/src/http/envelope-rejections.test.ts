import { expect, test } from '@jest/globals';
import { Fault } from '@vitrine/faults/fault';
import { tooLate } from './request-deadline.ts';
import { rejectionOfError } from './envelope-rejections.ts';

const withCode = (code: string) => Object.assign(new Error('of the database'), { code });

test.each([
  ['the server has no connection left', withCode('53300')],
  ['the server has no memory', withCode('53200')],
  ['a deadlock', withCode('40P01')],
  ['too many calls wait for a connection', new Fault('postgres_pool_full', { say: 'full' })],
  ['no connection got free in time', new Error('timeout exceeded when trying to connect')],
  ['the server accepts no connection in time', new Error('timeout expired')],
  ['a bound of this process', new Fault('overloaded', { say: 'overloaded', log: { bound: 'workspace' } })],
])('%s: 503 overloaded with Retry-After', (_, error) => {
  const headers = ['Retry-After', '1'];
  expect(rejectionOfError(error, true)).toMatchObject({ code: 'overloaded', headers, cause: error });
});

test.each([
  ['the deadline', tooLate(10_000)],
  ['a statement that was cancelled', withCode('57014')],
  ['a lock that was not free in time', withCode('55P03')],
])('%s: a request not admitted in time gets the overload response; an admitted one gets the timeout response', (_, error) => {
  expect(rejectionOfError(error, false)).toMatchObject({ code: 'overloaded' });
  const message = 'the request took longer than 10 s; nothing was billed';
  expect(rejectionOfError(error, true)).toMatchObject({ code: 'internal', message, reason: 'deadline_exceeded' });
});

test.each([
  ['a database that is away', withCode('ECONNREFUSED')],
  ['a table that is missing', withCode('42P01')],
  ['a bug', new TypeError('of ours')],
])('%s is not an overload', (_, error) => {
  expect(rejectionOfError(error, true)).toMatchObject({ code: 'internal' });
});
