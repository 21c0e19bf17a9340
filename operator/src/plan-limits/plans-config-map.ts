import type { KubernetesObject } from '@kubernetes/client-node';
import { planDocumentText, readPlanDocument, type PlanDocument } from '@vitrine/plans/plan-document';

/** The file in the ConfigMap, and in the folder where a service mounts it. */
const PLAN_FILE = 'plans.json';
const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'vitrine-operator' };

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The ConfigMap that services mount, as read. */
export type ConfigMapState =
  | { readonly kind: 'absent' }
  /** Created by another owner, so it is not overwritten. */
  | { readonly kind: 'foreign' }
  /** `generation`: of its document; 0 if that is invalid. */
  | { readonly kind: 'own'; readonly text: string; readonly generation: number };

export function configMapState(object: ConfigMap | undefined): ConfigMapState {
  if (object === undefined) return { kind: 'absent' };
  const isOwn = Object.entries(MANAGED_BY).every(([name, value]) => object.metadata?.labels?.[name] === value);
  if (!isOwn) return { kind: 'foreign' };
  const text = object.data?.[PLAN_FILE] ?? '';
  return { kind: 'own', text, generation: generationOf(text) };
}

function generationOf(text: string): number {
  try {
    return readPlanDocument(text).generation;
  } catch {
    // It was edited, so it is written again.
    return 0;
  }
}

/** The object applied to the API server. */
export function configMapBody(namespace: string, name: string, document: PlanDocument): object {
  const { generation, checksum } = document;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace,
      labels: MANAGED_BY,
      annotations: { 'vitrine.dev/plans-generation': String(generation), 'vitrine.dev/plans-checksum': checksum },
    },
    data: { [PLAN_FILE]: planDocumentText(document) },
  };
}
