import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { isLongRun } from '@vitrine/testkit/property-runs';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
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
const TEST_TIMEOUT_MS = 900_000;
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

/** The verdict of each pattern, because finding all of them took 63 s of a run. `npm run golden` adds those of new patterns. All are found
 *  again with VITRINE_LONG_RUNS=1, as in CI, and by another version of recheck. */
const GOLDEN = new URL('./testing/redos-verdicts.txt', import.meta.url);
const HEAD = `recheck ${(createRequire(import.meta.url)('recheck/package.json') as { readonly version: string }).version}`;
const [head, ...verdicts] = readFileSync(GOLDEN, 'utf8').trimEnd().split('\n');
const recorded: ReadonlyMap<string, string> = new Map(
  head === HEAD ? verdicts.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]) : [],
);
const known = isLongRun() ? new Map<string, string>() : recorded;

test(
  'every regular expression in production code passes the ReDoS check or is listed as undecided',
  async () => {
    const all = [...literalPatterns(), ...constructed].filter(hasQuantifier);
    const distinct = [...new Map(all.map((one) => [textOf(one), one])).values()];
    const found = new Map<ProductionPattern, string>();
    const rest = distinct.values();
    const checkNext = async (): Promise<void> => {
      for (const one of rest) found.set(one, known.get(textOf(one)) ?? (await verdictOf(one)));
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, checkNext));
    const namesOf = (wanted: string) => distinct.filter((one) => found.get(one) === wanted).map(nameOf);
    expect(namesOf('vulnerable').filter((name) => !Object.hasOwn(BOUNDED, name))).toEqual([]);
    expect(namesOf('unknown').length).toBeLessThan(distinct.length / 10);
    const lines = distinct.map((one) => {
      const [before, now] = [recorded.get(textOf(one)), found.get(one)];
      // Whether a pattern is decided in time depends on the machine.
      const isComparable = before !== undefined && before !== 'unknown' && now !== 'unknown';
      return `${isComparable ? now : (before ?? now)} ${textOf(one)}`;
    });
    const golden = `${[HEAD, ...lines.toSorted()].join('\n')}\n`;
    expect(golden).toBe(goldenText(GOLDEN, golden));
  },
  TEST_TIMEOUT_MS,
);

async function verdictOf({ source, flags }: ProductionPattern): Promise<string> {
  const options = { timeout: TIMEOUT_MS, recallTimeout: RECALL_TIMEOUT_MS };
  return (await check(source, flags.replace(/[dvy]/g, ''), options)).status;
}

test('patterns constructed from texts are included', () => {
  const seen = new Set(constructed.map(({ file }) => file));
  expect(filesWithConstructedPatterns.filter((file) => !seen.has(file))).toEqual([]);
});

function textOf({ source, flags }: ProductionPattern): string {
  return `/${source}/${flags}`;
}

function nameOf(one: ProductionPattern): string {
  return `${one.file}: ${textOf(one)}`;
}
