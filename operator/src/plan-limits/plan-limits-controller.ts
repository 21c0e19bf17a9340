import type { KubernetesObject } from '@kubernetes/client-node';
import { readPlanRows } from '@vitrine/plans/plan-rows';
import { isDeepStrictEqual } from 'node:util';
import type { ControllerContext } from '../leadership/controller-context.ts';
import type { Transactions } from '../leadership/fenced-database.ts';
import { Controller } from '../runtime/controller.ts';
import { PlanLimitsReconciler } from './plan-limits-reconciler.ts';
import { PAUSED, PLAN_LIMITS_PATH, readSpec, type PlanLimitsObject } from './plan-limits-resource.ts';
import { PlanLimitsRepository } from './plan-limits-repository.ts';

const NAME = 'planlimits';
/** How often rows are compared with resources, because a database may lose them or be restored from a copy. */
const SWEEP_MS = 5_000;

/**
 * Writes PlanLimits resources of the operator's own namespace to rows and to one ConfigMap. One at a time, because all share the
 * ConfigMap.
 */
export function createPlanLimitsController(context: ControllerContext, database: Transactions): Controller {
  const { config, server, pool, telemetry, events } = context;
  const { namespace, plans } = config;
  const repository = new PlanLimitsRepository({ server, pool, database, namespace, configMap: plans.config_map });
  const reconciler = new PlanLimitsReconciler(server, repository, events);
  const reconcile = (key: string, signal: AbortSignal) => reconciler.reconcile(key.slice(key.indexOf('/') + 1), signal);
  const controller = new Controller({ name: NAME, reconcile, observer: telemetry, concurrency: 1 });
  const resources = controller.watch<PlanLimitsObject>(server, 'planlimits', {
    path: PLAN_LIMITS_PATH(namespace),
    onChange: (key) => controller.add(key),
    isChange: (before, after) => !isDeepStrictEqual(reasonsOf(before), reasonsOf(after)),
  });
  controller.watch<KubernetesObject>(server, 'configmaps', {
    path: `/api/v1/namespaces/${namespace}/configmaps`,
    fieldSelector: `metadata.name=${plans.config_map}`,
    onChange: () => {
      for (const { metadata } of resources.list()) controller.add(`${namespace}/${metadata?.name ?? ''}`);
    },
  });
  controller.repeat(SWEEP_MS, async () => {
    const { plans: rows } = await readPlanRows(pool);
    for (const object of resources.list()) {
      const spec = readSpec(object);
      const name = object.metadata?.name ?? '';
      if ('limits' in spec && !isDeepStrictEqual(rows[name], spec.limits)) controller.add(`${namespace}/${name}`);
    }
  });
  return controller;
}

/** The parts of a resource whose change triggers a pass, without own writes of status and finalizers. */
function reasonsOf({ metadata = {} }: PlanLimitsObject): unknown {
  return [metadata.generation, metadata.deletionTimestamp, metadata.annotations?.[PAUSED]];
}
