import type { KubernetesObject } from './kubectl.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

export interface GatewayKeyObject extends KubernetesObject {
  readonly metadata: KubernetesObject['metadata'] & { readonly generation: number; readonly resourceVersion: string };
  readonly status?: {
    readonly keyId?: string;
    readonly secretName?: string;
    readonly lastHandledRotation?: string;
    readonly conditions?: readonly Condition[];
  };
}
