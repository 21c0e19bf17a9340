import { expect, test } from '@jest/globals';
import { healthReasons, stalledBy, type ScannerState } from './service-health.ts';

const WELL: ScannerState = {
  databaseReason: undefined,
  consumers: ['running', 'running'],
  canPublish: true,
  loopsAgeSec: new Map([['due jobs', 1]]),
};

test.each<[string, Partial<ScannerState>, string[]]>([
  ['all is there', {}, []],
  ['there is no broker', { consumers: [], canPublish: undefined }, []],
  ['the database is away', { databaseReason: 'waiting for the database: x' }, ['database_unavailable']],
  ['a consumer is paused', { consumers: ['running', 'paused'] }, ['database_unavailable']],
  ['the broker is away', { canPublish: false }, ['broker_unavailable']],
  ['a topic is missing', { consumers: ['running', 'connecting'] }, ['broker_unavailable']],
])('health when %s', (_, changes, reasons) => {
  expect(healthReasons({ ...WELL, ...changes })).toEqual(reasons);
});

test('a process with a loop that stalls for two minutes is not live, even without its dependencies', () => {
  const away = { ...WELL, databaseReason: 'away', canPublish: false, consumers: [] };
  expect(stalledBy(away)).toEqual([]);
  expect(stalledBy({ ...away, loopsAgeSec: new Map([['due jobs', 121]]) })).toEqual(['due jobs: no progress for 121 s']);
});
