import type { KubernetesObject } from '@kubernetes/client-node';
import { isDeepStrictEqual } from 'node:util';
import type { ControllerContext } from '../controller-context.ts';
import type { Transactions } from '../leadership/fenced-database.ts';
import { Controller } from '../runtime/controller.ts';
import { PlanLimitsReconciler } from './plan-limits-reconciler.ts';
import { PAUSED, PLAN_LIMITS_PATH, type PlanLimitsObject } from './plan-limits-resource.ts';
import { PlanLimitsWorld } from './plan-limits-world.ts';

const NAME = 'planlimits';

/** Writes PlanLimits resources of the operator's own namespace to rows and to one ConfigMap. One at a time: all of them end in that. */
export function createPlanLimitsController(context: ControllerContext, database: Transactions): Controller {
  const { config, server, pool, telemetry, events } = context;
  const { namespace, plans } = config;
  const world = new PlanLimitsWorld({ server, pool, database, namespace, configMap: plans.config_map });
  const reconciler = new PlanLimitsReconciler(server, world, events);
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
  return controller;
}

/** What of a resource is a reason to reconcile it: own writes of status and finalizers are none. */
function reasonsOf({ metadata = {} }: PlanLimitsObject): unknown {
  return [metadata.generation, metadata.deletionTimestamp, metadata.annotations?.[PAUSED]];
}
