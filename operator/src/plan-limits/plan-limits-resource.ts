import type { KubernetesObject } from '@kubernetes/client-node';
import { issueText } from '@vitrine/config/issue-text';
import { planLimits, type PlanLimits } from '@vitrine/plans/plan-limits';
import { z } from 'zod';
import { API_VERSION, statusShape, type CustomResource, type PrinterColumn } from '../custom-resources/custom-resource.ts';
import type { Condition } from '../runtime/conditions.ts';

export const PLAN_LIMITS_PATH = (namespace: string): string => `/apis/${API_VERSION}/namespaces/${namespace}/planlimits`;
/** Keeps a resource until its row is deleted. */
export const FINALIZER = 'vitrine.dev/plan-limits';
export const PAUSED = 'vitrine.dev/paused';

/** `metadata.name` is the name of the plan. */
const PLAN_NAMES = ['free', 'pro', 'growth', 'partner'] as const;

/** A PlanLimits resource as the API server returns it; its spec is not validated. */
export interface PlanLimitsObject extends KubernetesObject {
  readonly spec?: unknown;
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
}

/** The limits of a resource, or its fault. */
export function readSpec({ metadata, spec }: PlanLimitsObject): { readonly limits: PlanLimits } | { readonly problem: string } {
  const name = z.enum(PLAN_NAMES).safeParse(metadata?.name);
  if (!name.success) return { problem: `metadata.name: must be one of ${PLAN_NAMES.join(', ')}` };
  const parsed = planLimits.safeParse(spec, { error: issueText });
  if (parsed.success) return { limits: parsed.data };
  const [first] = parsed.error.issues;
  return { problem: `${['spec', ...(first?.path ?? [])].join('.')}: ${first?.message ?? 'is not valid'}` };
}

const column = (name: string, field: string, description: string, priority: 0 | 1 = 0): PrinterColumn => ({
  name,
  type: 'integer',
  jsonPath: `.spec.${field}`,
  description,
  ...(priority === 1 && { priority }),
});
const ready = (field: string) => `.status.conditions[?(@.type=="Ready")].${field}`;

export const PLAN_LIMITS: CustomResource = {
  kind: 'PlanLimits',
  plural: 'planlimits',
  singular: 'planlimit',
  shortName: 'pl',
  description:
    'Limits of the plan with the name of this object. The operator reads it in its own namespace and writes it to Postgres and to a ConfigMap, ' +
    'from which services take changes while they run.',
  // The content of its row.
  spec: planLimits.describe('The limits of the plan.'),
  status: statusShape('Ready; Stalled while it is true').describe('Whether the plan was written.'),
  isSpecRequired: true,
  rules: [
    {
      rule: `self.metadata.name in [${PLAN_NAMES.map((name) => `'${name}'`).join(', ')}]`,
      message: `the name must be one of ${PLAN_NAMES.join(', ')}`,
    },
  ],
  columns: [
    column('Rpm', 'rpm', 'Requests a minute at the store API.'),
    column('Concurrency', 'concurrency', 'Requests in flight at the store API.'),
    column('Batch', 'enrichBatchMax', 'Domains in one enrich call.'),
    { name: 'Ready', type: 'string', jsonPath: ready('status'), description: 'Whether the plan was written.' },
    { name: 'Reason', type: 'string', jsonPath: ready('reason'), description: 'Why it was or was not.' },
    column('Freshness', 'freshnessDays', 'Days until an observation is stale.', 1),
    column('History', 'historyDays', 'Days of history.', 1),
    column('Refreshes', 'liveRefreshesPerPeriod', 'Live refreshes in a billing period.', 1),
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'When the object was created.' },
  ],
};
