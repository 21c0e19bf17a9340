import { describe, test } from '@jest/globals';
import { engineError } from './environment.ts';

/** `describe` where a container engine runs. Without one its tests are reported as skipped; in CI that is a failure. */
export async function describeWithContainers(name: string, tests: () => void): Promise<void> {
  const reason = await engineError();
  if (reason === undefined) return describe(name, tests);
  if (process.env['CI'] !== undefined) {
    return test(name, () => {
      throw new Error(`no container engine: ${reason}`);
    });
  }
  process.stderr.write(`SKIPPED, no container engine (${reason}): ${name}\n`);
  describe.skip(name, tests);
}
