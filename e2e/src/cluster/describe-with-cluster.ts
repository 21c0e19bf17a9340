import { describeUnless } from '../describe-unless.ts';
import { clusterError } from './test-cluster.ts';

/** `describe` if a cluster is available. */
export async function describeWithCluster(title: string, tests: () => void): Promise<void> {
  describeUnless(await clusterError(), title, tests);
}
