import type { Kubectl, KubernetesObject } from './kubectl.ts';

const READY_MS = 60_000;

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

export interface GatewayKeyObject extends KubernetesObject {
  readonly metadata: KubernetesObject['metadata'] & {
    readonly generation: number;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
  };
  readonly status?: {
    readonly keyId?: string;
    readonly secretName?: string;
    readonly lastHandledRotation?: string;
    readonly conditions?: readonly Condition[];
  };
}

export const gatewayKey = (name: string, spec: object) => ({
  apiVersion: 'vitrine.dev/v1alpha1',
  kind: 'GatewayKey',
  metadata: { name },
  spec,
});

/** The token of a key, from its Secret. */
export const tokenOf = (kubectl: Kubectl, name: string) => kubectl.secretValue(`${name}-gateway-key`, 'token');

/** Creates a key; resolves with its token when it is ready. */
export async function createGatewayKey(kubectl: Kubectl, name: string, spec: object): Promise<string> {
  await kubectl.apply(gatewayKey(name, spec));
  await kubectl.wait('condition=Ready', [`gatewaykey/${name}`], READY_MS);
  return tokenOf(kubectl, name);
}

/** Rotates a key by its annotation; resolves with the new token. */
export async function rotateGatewayKey(kubectl: Kubectl, name: string): Promise<string> {
  const old = await tokenOf(kubectl, name);
  await kubectl.run(['annotate', `gatewaykey/${name}`, 'vitrine.dev/rotate=now']);
  return kubectl.until('a new token', READY_MS, async () => {
    const current = await tokenOf(kubectl, name);
    return current !== old && current;
  });
}
