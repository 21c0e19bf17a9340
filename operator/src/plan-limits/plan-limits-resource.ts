import type { KubernetesObject } from '@kubernetes/client-node';
import { planLimits, type PlanLimits } from '@vitrine/plans/plan-limits';
import { z } from 'zod';
import type { Condition } from '../runtime/conditions.ts';

export const PLAN_LIMITS_PATH = (namespace: string): string => `/apis/vitrine.dev/v1alpha1/namespaces/${namespace}/planlimits`;
/** Keeps a resource until its row is deleted. */
export const FINALIZER = 'vitrine.dev/plan-limits';
export const PAUSED = 'vitrine.dev/paused';

/** `metadata.name` is the name of the plan. */
export const PLAN_NAMES = ['free', 'pro', 'growth', 'partner'] as const;

/** The spec of a PlanLimits resource is what its row holds. */
export const planLimitsSpec = planLimits;
export type PlanLimitsSpec = PlanLimits;

/** A PlanLimits resource as the API server gives it; its spec is not validated. */
export interface PlanLimitsObject extends KubernetesObject {
  readonly spec?: unknown;
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
}

/** The limits of a resource, or what is wrong with it. */
export function readSpec({
  metadata,
  spec,
}: PlanLimitsObject): { readonly limits: PlanLimitsSpec } | { readonly problem: string } {
  const name = z.enum(PLAN_NAMES).safeParse(metadata?.name);
  if (!name.success) return { problem: `metadata.name: must be one of ${PLAN_NAMES.join(', ')}` };
  const parsed = planLimitsSpec.safeParse(spec);
  if (parsed.success) return { limits: parsed.data };
  const [first] = parsed.error.issues;
  return { problem: `${['spec', ...(first?.path ?? [])].join('.')}: ${first?.message ?? 'is not valid'}` };
}
