import { planDocument, planDocumentText } from '@vitrine/plans/plan-document';
import type { PlanUse } from '@vitrine/plans/plan-changes';
import type { PlanLimits } from '@vitrine/plans/plan-limits';
import type { PlanRows } from '@vitrine/plans/plan-rows';
import { messageOf } from '@vitrine/faults/fault';
import { isDeepStrictEqual } from 'node:util';
import { readConditions, type ConditionReason, type WantedCondition } from '../runtime/conditions.ts';
import { FINALIZER, PAUSED, readSpec, type PlanLimitsObject } from './plan-limits-resource.ts';
import type { ConfigMapState } from './plans-config-map.ts';

/** How often a plan that waits for deletion is checked for use. */
export const IN_USE_INTERVAL_MS = 10_000;
/** How often the invalid row of another plan is read again. */
const INVALID_ROW_INTERVAL_MS = 60_000;

/** The observed state of one resource: the object, its row and the ConfigMap. */
export interface Observed {
  readonly object: PlanLimitsObject | undefined;
  readonly rows: PlanRows;
  /** The keys and workspaces that block the deletion of the plan. */
  readonly use: PlanUse;
  readonly configMap: ConfigMapState;
}

export type Step =
  | { readonly kind: 'add-finalizer' }
  | { readonly kind: 'write-row'; readonly limits: PlanLimits }
  /** `above`: a generation that services may have applied. */
  | { readonly kind: 'raise-generation'; readonly above: number }
  | { readonly kind: 'delete-row' }
  | { readonly kind: 'write-config-map' }
  | { readonly kind: 'remove-finalizer' };

export interface Decision {
  /** In order; each may be repeated. */
  readonly steps: readonly Step[];
  /** Written when all steps are done; undefined for a resource that is gone. */
  readonly ready: WantedCondition | undefined;
  /** Whether only a change by a user can resolve it. */
  readonly isStalled?: boolean;
  /** Why the last pass failed. It is retried. */
  readonly failure?: ConditionReason;
  readonly requeueAfterMs?: number;
}

/** The steps that make row and ConfigMap match a resource. */
export function decide(observed: Observed): Decision {
  const { object, configMap } = observed;
  if (object === undefined) return { steps: [], ready: undefined };
  if (object.metadata?.annotations?.[PAUSED] === 'true')
    return { steps: [], ready: notReady('Paused', `remove the annotation ${PAUSED} to continue`) };
  if (object.metadata?.deletionTimestamp !== undefined) return decideDeletion(observed, object);
  const spec = readSpec(object);
  if ('problem' in spec) return { steps: [], ready: notReady('InvalidSpec', spec.problem), isStalled: true };
  if (configMap.kind === 'foreign') {
    const message =
      'the ConfigMap of the plans was not made by the operator: delete it, or set OPERATOR_PLANS_CONFIG_MAP to another name';
    return { steps: [], ready: notReady('ConfigMapConflict', message), isStalled: true };
  }
  const name = object.metadata?.name ?? '';
  const isWritten = isDeepStrictEqual(observed.rows.plans[name], spec.limits);
  const invalid = decideInvalidRow(observed.rows, name);
  if (invalid !== undefined) return invalid;
  // The status reports the loss before the repair, because requests with this plan were rejected in the meantime.
  if (!Object.hasOwn(observed.rows.plans, name) && isReady(object)) return ROW_MISSING;
  return {
    steps: [
      ...(object.metadata?.finalizers?.includes(FINALIZER) === true ? [] : [{ kind: 'add-finalizer' as const }]),
      ...raiseSteps(observed),
      ...(isWritten ? [] : [{ kind: 'write-row' as const, limits: spec.limits }]),
      ...configMapSteps(observed, !isWritten),
    ],
    ready: { type: 'Ready', status: 'True', reason: 'Applied', message: 'the plan is in Postgres and in the ConfigMap' },
  };
}

const ROW_MISSING: Decision = {
  steps: [],
  ready: notReady('RowMissing', 'the plan is gone from the database, and is written again'),
  requeueAfterMs: 1,
};

function isReady({ status }: PlanLimitsObject): boolean {
  return readConditions(status).some(({ type, status: is }) => type === 'Ready' && is === 'True');
}

export function inUse({ keys, workspaces }: PlanUse): WantedCondition {
  return notReady(
    'InUse',
    `${keys} active gateway keys and ${workspaces} workspaces have the plan: give them another one, or none`,
  );
}

function notReady(reason: string, message: string): WantedCondition {
  return { type: 'Ready', status: 'False', reason, message };
}

function decideDeletion(observed: Observed, { metadata = {} }: PlanLimitsObject): Decision {
  if (!(metadata.finalizers ?? []).includes(FINALIZER)) return { steps: [], ready: undefined };
  const { use, rows } = observed;
  if (use.keys > 0 || use.workspaces > 0) return { steps: [], ready: inUse(use), requeueAfterMs: IN_USE_INTERVAL_MS };
  const invalid = decideInvalidRow(rows, metadata.name ?? '');
  if (invalid !== undefined) return invalid;
  const hasRow = Object.hasOwn(rows.plans, metadata.name ?? '');
  return {
    steps: [
      ...raiseSteps(observed),
      ...(hasRow ? [{ kind: 'delete-row' as const }] : []),
      ...configMapSteps(observed, hasRow),
      { kind: 'remove-finalizer' },
    ],
    ready: undefined,
  };
}

/** A database that was restored from an older copy is behind the generation that services have applied from the ConfigMap, or has reached it with
 *  other plans. */
function raiseSteps({ rows, configMap }: Observed): Step[] {
  if (configMap.kind !== 'own' || configMap.generation < rows.generation) return [];
  const isEqual = configMap.generation === rows.generation && configMap.text === textOf(rows);
  return isEqual ? [] : [{ kind: 'raise-generation', above: configMap.generation }];
}

function configMapSteps({ rows, configMap }: Observed, hasChanged: boolean): Step[] {
  if (configMap.kind === 'foreign') return [];
  const isCurrent = !hasChanged && configMap.kind === 'own' && configMap.text === textOf(rows);
  return isCurrent ? [] : [{ kind: 'write-config-map' }];
}

/** Undefined when the rows are not valid. */
function textOf({ generation, plans }: PlanRows): string | undefined {
  try {
    return planDocumentText(planDocument(generation, plans));
  } catch {
    return undefined;
  }
}

/** A decision when the row of another plan is invalid, because services then ignore all plans. */
function decideInvalidRow({ generation, plans }: PlanRows, name: string): Decision | undefined {
  const { [name]: _own, ...others } = plans;
  try {
    planDocument(generation, others);
    return undefined;
  } catch (error) {
    const message = `another row of the table plans is not valid, so services ignore all of them: ${messageOf(error)}`;
    return { steps: [], ready: notReady('InvalidRow', message), isStalled: true, requeueAfterMs: INVALID_ROW_INTERVAL_MS };
  }
}
