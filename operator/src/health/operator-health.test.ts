import { expect, test } from '@jest/globals';
import type { ControllerFigures } from '../runtime/controller.ts';
import { healthReasons, stalledBy } from './operator-health.ts';

const QUEUE = { depth: 0, adds: 0, retries: 0, unfinishedSeconds: 0, longestRunningSeconds: 0 };
const WATCH = { objects: 0, restarts: 0, relists: 1, staleSeconds: 1 };
const figures = (more: Partial<ControllerFigures>): ControllerFigures => ({
  name: 'thing',
  isSynced: true,
  concurrency: 4,
  activeWorkers: 0,
  queue: QUEUE,
  watches: new Map([['things', WATCH]]),
  ...more,
});
const stateOf = (more: Partial<ControllerFigures>) => ({
  isLeading: true,
  databaseReason: undefined,
  controllers: [figures(more)],
});

test.each([
  ['all progresses', {}, undefined],
  ['a kind was never listed', { watches: new Map([['things', { ...WATCH, staleSeconds: undefined }]]) }, undefined],
  ['a kind is silent for 89 s', { watches: new Map([['things', { ...WATCH, staleSeconds: 89 }]]) }, undefined],
  [
    'a kind is silent for 91 s',
    { watches: new Map([['things', { ...WATCH, staleSeconds: 91 }]]) },
    /received of things for 91 s/,
  ],
  ['a worker is busy for 4 min', { queue: { ...QUEUE, longestRunningSeconds: 240 } }, undefined],
  ['a worker is busy for 6 min', { queue: { ...QUEUE, longestRunningSeconds: 360 } }, /busy for 360 s/],
])('the process is live, or not, when %s', (_, more, reason) => {
  expect(stalledBy(stateOf(more))).toEqual(reason === undefined ? [] : [expect.stringMatching(reason)]);
});

test('a leader waits for the database, then for its lists; a standby does not wait', () => {
  const state = { ...stateOf({ isSynced: false }), databaseReason: 'waiting for the database' };
  expect(healthReasons({ ...state, isLeading: false })).toEqual([]);
  expect(healthReasons(state)).toEqual(['database_unavailable']);
  expect(healthReasons({ ...state, databaseReason: undefined })).toEqual(['lists_not_read']);
  expect(healthReasons(stateOf({}))).toEqual([]);
});
