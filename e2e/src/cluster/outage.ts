import { setTimeout as wait } from 'node:timers/promises';
import type { Kubectl } from './kubectl.ts';

const READY_TIMEOUT_MS = 120_000;
const NOWHERE = { 'vitrine.dev/away': 'yes' };

/** Shuts down a server of `outside-stores.ts`: its Service has no endpoint, so that new connections are refused, and its process ends,
 *  so that
 *  all others break. Its pod and its disk stay. */
export async function takeServerAway(kubectl: Kubectl, name: string, seconds: number): Promise<void> {
  await selectPods(kubectl, name, NOWHERE);
  await kubectl.until(`no endpoint of ${name}`, READY_TIMEOUT_MS, async () => (await addressesOf(kubectl, name)).length === 0);
  await endProcess(kubectl, name);
  await wait(seconds * 1_000);
  await selectPods(kubectl, name, { 'vitrine.dev/away': null });
  await kubectl.rollout(`deployment/${name}`, READY_TIMEOUT_MS);
}

/** The killed process also ends `kubectl exec`, so its error is ignored. */
async function endProcess(kubectl: Kubectl, name: string): Promise<void> {
  await kubectl.exec(`deployment/${name}`, ['sh', '-c', 'kill -INT 1; sleep 2; kill -KILL -1']).catch(() => '');
}

async function selectPods(kubectl: Kubectl, name: string, selector: object): Promise<void> {
  await kubectl.run(['patch', `service/${name}`, '--type=merge', '--patch', JSON.stringify({ spec: { selector } })]);
}

interface EndpointSlice {
  readonly endpoints: readonly { readonly addresses: readonly string[] }[] | null;
}

async function addressesOf(kubectl: Kubectl, service: string): Promise<readonly string[]> {
  const slices = await kubectl.list<EndpointSlice>('endpointslices', `--selector=kubernetes.io/service-name=${service}`);
  return slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses));
}
