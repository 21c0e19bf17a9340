import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { REGISTRY_CHECKSUM } from './rules/rule-index.ts';
import { LITERAL_VERSIONS, nextLiteralVersions, type LiteralVersions } from './rules/literals.ts';

const CHECKSUM = new URL('./testdata/registry-checksum.txt', import.meta.url);
const VERSIONS = new URL('./rules/literal-versions.json', import.meta.url);
const ADVICE = 'run `npm run golden` and commit packages/stores/registry/src';

test('registry-checksum.txt is the checksum sent to clients; npm run golden rewrites it', () => {
  const text = `${REGISTRY_CHECKSUM}\n`;
  const file = 'testdata/registry-checksum.txt';
  expect({ file, text, advice: ADVICE }).toEqual({ file, text: goldenText(CHECKSUM, text), advice: ADVICE });
  expect(text).toMatch(/^sha256:[0-9a-f]{64}\n$/);
});

test('literal-versions.json has exactly the literals of rules; npm run golden rewrites it', () => {
  const recorded = JSON.parse(goldenText(VERSIONS, `${JSON.stringify(LITERAL_VERSIONS, null, 2)}\n`)) as LiteralVersions;
  const missing = Object.keys(LITERAL_VERSIONS.since).filter((literal) => !Object.hasOwn(recorded.since, literal));
  const stale = Object.keys(recorded.since).filter((literal) => !Object.hasOwn(LITERAL_VERSIONS.since, literal));
  expect({ file: 'rules/literal-versions.json', missing, stale, advice: ADVICE }).toEqual({
    file: 'rules/literal-versions.json',
    missing: [],
    stale: [],
    advice: ADVICE,
  });
  expect(recorded).toEqual(LITERAL_VERSIONS);
});

test('a new literal gets the next version, others keep theirs, and a removed one that returns is new', () => {
  const first = { version: 3, since: { 'a=': 1, 'b=': 3 } };
  expect(nextLiteralVersions(first, { x: { inline: ['~a=', 'b=', 'id:G-'] } })).toEqual(first);
  const added = nextLiteralVersions(first, { x: { inline: ['~a='], settings: ['c='] } });
  expect(added).toEqual({ version: 4, since: { 'a=': 1, 'c=': 4 } });
  const removed = nextLiteralVersions(added, { x: { inline: ['a='] } });
  expect(removed).toEqual({ version: 4, since: { 'a=': 1 } });
  expect(nextLiteralVersions(removed, { x: { inline: ['a=', 'c='] } })).toEqual({ version: 5, since: { 'a=': 1, 'c=': 5 } });
});
