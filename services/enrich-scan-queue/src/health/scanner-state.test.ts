import { expect, test } from '@jest/globals';
import { healthReasons, stalledBy, waitingFor, type ScannerState } from './scanner-state.ts';

const WELL: ScannerState = {
  databaseReason: undefined,
  consumers: ['running', 'running'],
  canPublish: true,
  loopsAgeSec: new Map([['due jobs', 1]]),
};

test.each<[string, Partial<ScannerState>, RegExp | undefined, string[]]>([
  ['all is there', {}, undefined, []],
  ['there is no broker', { consumers: [], canPublish: undefined }, undefined, []],
  [
    'the database is away',
    { databaseReason: 'waiting for the database: x' },
    /^waiting for the database: x$/,
    ['database_unavailable'],
  ],
  ['a consumer is paused', { consumers: ['running', 'paused'] }, /a job was not taken/, ['database_unavailable']],
  ['the broker is away', { canPublish: false }, /^waiting for the broker$/, ['broker_unavailable']],
  ['a topic is missing', { consumers: ['running', 'connecting'] }, /waiting for the topics/, ['broker_unavailable']],
])('readiness and health when %s', (_, changes, reason, reasons) => {
  const state = { ...WELL, ...changes };
  if (reason === undefined) expect(waitingFor(state)).toBeUndefined();
  else expect(waitingFor(state)).toMatch(reason);
  expect(healthReasons(state)).toEqual(reasons);
});

test('a process whose loop does not come round for two minutes is not live, whatever is away', () => {
  const away = { ...WELL, databaseReason: 'away', canPublish: false, consumers: [] };
  expect(stalledBy(away)).toBeUndefined();
  expect(stalledBy({ ...away, loopsAgeSec: new Map([['due jobs', 121]]) })).toBe('due jobs: no progress for 121 s');
});
