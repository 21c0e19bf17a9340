import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { createId, signalId, timeOfId } from './identifiers.ts';

const FORM = /^[a-z]{2,3}_[0-9a-hjkmnp-tv-z]{26}$/;
const times = fc.integer({ min: 0, max: 2 ** 48 - 1 });

test('ids have 26 characters of lower-case Crockford base32, sort by time, and contain the time', () => {
  fc.assert(
    fc.property(times, times, (one, other) => {
      const ids = [one, other].map((time) => createId('ws', time, randomBytes));
      expect(ids.every((id) => FORM.test(id))).toBe(true);
      expect(ids.map(timeOfId)).toEqual([one, other]);
      if (one < other) expect(ids.toSorted()).toEqual(ids);
    }),
  );
});

test('ids of one millisecond differ', () => {
  const ids = Array.from({ length: 1_000 }, () => createId('req', 1_700_000_000_000, randomBytes));
  expect(new Set(ids).size).toBe(1_000);
});

const SIGNAL = { storefront_id: 'sf_1', type: 'technology_added', subject: 'klaviyo', observation_id: 'obs_1' };

test('the id of a signal is the first 130 bits of its hash, and differs for every part', () => {
  expect(signalId(SIGNAL)).toBe('evt_t5j4mwznjckfnsqmhvwnv0qs5y');
  const others = Object.keys(SIGNAL).map((part) => signalId({ ...SIGNAL, [part]: 'other' }));
  expect(new Set([signalId(SIGNAL), ...others]).size).toBe(5);
  expect(others.every((id) => FORM.test(id))).toBe(true);
});
