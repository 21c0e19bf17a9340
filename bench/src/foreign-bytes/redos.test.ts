import { expect, test } from '@jest/globals';
import { check } from 'recheck';
import { constructedPatterns } from './testing/constructed-patterns.ts';
import {
  filesWithConstructedPatterns,
  hasQuantifier,
  literalPatterns,
  type ProductionPattern,
} from './testing/production-patterns.ts';

/** For a pattern that recheck cannot decide within this time nothing is proven. The growth of the functions that use it is measured separately. */
const TIMEOUT_MS = 5_000;
/** An attack found by recheck's step count is confirmed if V8 takes longer than this. */
const RECALL_TIMEOUT_MS = 1_000;
const AT_A_TIME = 2;
/** Quadratic patterns for bounded texts. */
const BOUNDED: Readonly<Record<string, string>> = {
  [String.raw`packages/stores/registry/src/rules/rule-index.ts: /^\/(?:[^?]*\/)?bundles\/storefront\/[^?]*\.(?:js|css|woff2?)/`]:
    'evidence has paths of at most 200 characters',
  [String.raw`migrations/src/schema-differences.ts: /(?<=^GRANT .*)ON .+ TO \S+/`]: 'lines of a schema of our own',
};

const constructed = await constructedPatterns(() =>
  Promise.all([
    import('./testing/foreign-bytes.cases.ts'),
    import('@vitrine/credentials/pepper'),
    import('@vitrine/credentials/token'),
  ]),
);

test('every regular expression in production code passes the ReDoS check or is listed as undecided', async () => {
  const all = [...literalPatterns(), ...constructed].filter(hasQuantifier);
  const distinct = [...new Map(all.map((one) => [`/${one.source}/${one.flags}`, one])).values()];
  const vulnerable: string[] = [];
  const undecided: string[] = [];
  const checkNext = async (): Promise<void> => {
    for (let one = distinct.pop(); one !== undefined; one = distinct.pop()) {
      const { status } = await check(one.source, one.flags.replace(/[dvy]/g, ''), {
        timeout: TIMEOUT_MS,
        recallTimeout: RECALL_TIMEOUT_MS,
      });
      if (status === 'vulnerable' && !Object.hasOwn(BOUNDED, nameOf(one))) vulnerable.push(nameOf(one));
      if (status === 'unknown') undecided.push(nameOf(one));
    }
  };
  const count = distinct.length;
  await Promise.all(Array.from({ length: AT_A_TIME }, checkNext));
  console.log(`${count} patterns checked; undecided: ${undecided.length}\n${undecided.join('\n')}`);
  expect(vulnerable).toEqual([]);
  expect(undecided.length).toBeLessThan(count / 10);
});

test('patterns constructed from texts are included', () => {
  const seen = new Set(constructed.map(({ file }) => file));
  expect(filesWithConstructedPatterns.filter((file) => !seen.has(file))).toEqual([]);
});

function nameOf({ file, source, flags }: ProductionPattern): string {
  return `${file}: /${source}/${flags}`;
}
