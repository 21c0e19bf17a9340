import { describe, test } from '@jest/globals';

/** `describe`, unless there is a reason why its tests cannot run here: then they are skipped, and the reason is in their title, from
 *  which
 *  `.ci/skipped-tests.js` counts them. In CI it is a failure. The body of a skipped `describe` runs all the same, so that jest knows its tests:
 *  a body only declares tests, and leaves work to `beforeAll`. */
export function describeUnless(reason: string | undefined, title: string, tests: () => void): void {
  if (reason === undefined) return describe(title, tests);
  if (process.env['CI'] === undefined) return describe.skip(`${title} [skipped: ${reason}]`, tests);
  test(title, () => {
    throw new Error(reason);
  });
}
