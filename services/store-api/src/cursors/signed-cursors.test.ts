import { expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { signedCursors } from './signed-cursors.ts';

const DAY_MS = 86_400_000;
const [old, current] = [1, 2].map((version) => ({ version, secret: new Secret(`pepper ${version}`) }));
const cursorsAt = (nowMs: number, list = 'candidates', peppers = [current, old].filter((one) => one !== undefined)) =>
  signedCursors(peppers, list, () => nowMs);

test('a cursor is valid for its list and filter for 24 hours, also after a pepper rotation', () => {
  const cursor = cursorsAt(0, 'candidates', old === undefined ? [] : [old]).seal('cnd_1', 'pending');
  expect(cursorsAt(DAY_MS - 1).open(cursor, 'pending')).toBe('cnd_1');
  expect(cursorsAt(DAY_MS).open(cursor, 'pending')).toBeUndefined();
  expect(cursorsAt(0).open(cursor, 'resolved')).toBeUndefined();
  expect(cursorsAt(0, 'technologies').open(cursor, 'pending')).toBeUndefined();
});

test('a modified or forged cursor is rejected', () => {
  const cursor = cursorsAt(0).seal('cnd_1', '');
  const forged = Buffer.from(JSON.stringify([DAY_MS, 'cnd_0'])).toString('base64url');
  const others = [
    '',
    '.',
    'x',
    cursor.slice(1),
    `${cursor}A`,
    `${forged}.${cursor.split('.')[1]}`,
    cursor.replace('.', '..'),
    'a'.repeat(5_000),
  ];
  expect(others.map((other) => cursorsAt(0).open(other, ''))).toEqual(others.map(() => undefined));
});
