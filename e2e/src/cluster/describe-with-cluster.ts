import { describe, test } from '@jest/globals';
import { clusterError } from './test-cluster.ts';

/** `describe` where a cluster can be had. Without one its tests are reported as skipped, with their number; in CI that is a failure. */
export async function describeWithCluster(name: string, tests: () => void): Promise<void> {
  const reason = await clusterError();
  if (reason === undefined) return describe(name, tests);
  if (process.env['CI'] !== undefined) {
    return test(name, () => {
      throw new Error(`no cluster: ${reason}`);
    });
  }
  process.stderr.write(`SKIPPED, no cluster (${reason}): ${name}\n`);
  describe.skip(name, tests);
}
