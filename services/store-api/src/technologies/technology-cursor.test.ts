import { expect, test } from '@jest/globals';
import { Secret } from '@vitrine/config/secret';
import { TechnologyCursors } from './technology-cursor.ts';

const pepper = (version: number) => ({ version, secret: new Secret(`a-pepper-of-thirty-two-characters-${version}`) });
const SCOPE = { workspaceId: 'ws_1', kind: undefined, category: undefined, q: undefined };
const DAY_MS = 86_400_000;

test('a cursor is valid for 24 hours, and after the pepper was replaced while the old one is kept', () => {
  const cursor = new TechnologyCursors([pepper(1)]).create('klaviyo', SCOPE, 0);
  const rotated = new TechnologyCursors([pepper(2), pepper(1)]);
  expect(rotated.read(cursor, SCOPE, DAY_MS - 1)).toEqual({ after: 'klaviyo' });
  expect(rotated.read(cursor, SCOPE, DAY_MS)).toEqual({ error: expect.stringContaining('expired') });
  expect(new TechnologyCursors([pepper(2)]).read(cursor, SCOPE, 1)).toEqual({ error: expect.any(String) });
});
