import type { KubernetesObject } from '@kubernetes/client-node';
import { readPlanRows } from '@vitrine/plans/plan-rows';
import { isDeepStrictEqual } from 'node:util';
import type { ControllerContext } from '../leadership/controller-context.ts';
import type { Transactions } from '../leadership/fences.ts';
import { Controller, type ReconcileResult } from '../runtime/controller.ts';
import { PAUSED, PLAN_LIMITS_PATH, readSpec, type PlanLimitsObject } from './plan-limits-resource.ts';
import { PlanLimitsRepository } from './plan-limits-repository.ts';
import { API_VERSION } from '../custom-resources/custom-resource.ts';
import type { ApiRequests } from '../runtime/kubernetes-client.ts';
import { isTransition, readConditions, updateConditions, type WantedCondition } from '../runtime/conditions.ts';
import type { EventRecorder } from '../runtime/event-recorder.ts';
import { afterFailure } from '../runtime/failure.ts';
import { mergeStatus } from '../runtime/object-requests.ts';
import { decide, inUse, IN_USE_INTERVAL_MS, type Decision } from './decide.ts';

const NAME = 'planlimits';
/** How often rows are compared with resources, because a database may lose them or be restored from a copy. */
const SWEEP_MS = 5_000;

/** Writes PlanLimits resources of the operator's own namespace to rows and to one ConfigMap. One at a time, because all share the ConfigMap. */
export function createPlanLimitsController(context: ControllerContext, database: Transactions): Controller {
  const { config, server, pool, telemetry, events } = context;
  const { namespace, plans } = config;
  const repository = new PlanLimitsRepository({ server, pool, database, namespace, configMap: plans.config_map });
  const reconciler = new PlanLimitsReconciler({ server, repository, events });
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

interface Applied {
  readonly object: PlanLimitsObject | undefined;
  readonly decision: Decision;
}

/** What a reconciler reads and writes with. */
interface ReconcilerParts {
  readonly server: ApiRequests;
  readonly repository: Pick<PlanLimitsRepository, 'path' | 'read' | 'gather' | 'apply'>;
  readonly events: Pick<EventRecorder, 'record'>;
}

/** One pass of one resource: gather -> decide -> apply, then its status. */
export class PlanLimitsReconciler {
  readonly #parts: ReconcilerParts;

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
  }

  /** `name`: of the resource, which is that of the plan. */
  async reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult> {
    const object = await this.#parts.repository.read(name, signal);
    try {
      const observed = await this.#parts.repository.gather(object, signal);
      const applied = await this.#apply(decide(observed), object, signal);
      await this.#writeStatus(applied, signal);
      return { requeueAfterMs: applied.decision.requeueAfterMs };
    } catch (error) {
      if (!signal.aborted) await this.#reportFailure(object, error, signal);
      throw error;
    }
  }

  async #apply(decision: Decision, object: PlanLimitsObject | undefined, signal: AbortSignal): Promise<Applied> {
    let current = object;
    for (const step of decision.steps) {
      signal.throwIfAborted();
      const result = await this.#parts.repository.apply(step, current, signal);
      // A key or workspace got the plan since it was gathered.
      if (result !== undefined && 'workspaces' in result)
        return { object: current, decision: { steps: [], ready: inUse(result), requeueAfterMs: IN_USE_INTERVAL_MS } };
      current = result;
    }
    return { object: current, decision };
  }

  /** Writes nothing where nothing would change. */
  async #writeStatus({ object, decision }: Applied, signal: AbortSignal): Promise<void> {
    const { ready, isStalled = false, failure } = decision;
    if (object === undefined || ready === undefined) return;
    const { generation = 0, name = '', resourceVersion = '' } = object.metadata ?? {};
    const before = readConditions(object.status);
    const stalled: WantedCondition = { ...ready, type: 'Stalled', status: 'True' };
    const reconciling = failure && { ...failure, type: 'Reconciling', status: 'True' as const };
    const wanted = [ready, ...(isStalled ? [stalled] : []), ...(reconciling ? [reconciling] : [])];
    const now = new Date().toISOString().replace(/\.\d+/, '');
    const conditions = updateConditions(before, wanted, generation, now);
    const status = { observedGeneration: generation, conditions };
    if (isDeepStrictEqual(status, object.status)) return;
    await mergeStatus(this.#parts.server, this.#parts.repository.path(name), status, resourceVersion, signal);
    const news = [ready, reconciling].find((condition) => condition !== undefined && isTransition(before, condition));
    if (news !== undefined) this.#recordEvent(object, news);
  }

  #recordEvent(object: PlanLimitsObject, { type: of, status, reason, message: note }: WantedCondition): void {
    const isNormal = of === 'Ready' && (status === 'True' || reason === 'Paused');
    const subject = { ...object, apiVersion: API_VERSION, kind: 'PlanLimits' };
    this.#parts.events.record(subject, { type: isNormal ? 'Normal' : 'Warning', reason, action: 'Reconcile', note });
  }

  /** The pass is repeated all the same. A status that cannot be written is an event. */
  async #reportFailure(object: PlanLimitsObject | undefined, error: unknown, signal: AbortSignal): Promise<void> {
    if (object === undefined) return;
    const after = afterFailure(error, object);
    if (after === undefined) return;
    const ready: WantedCondition = { type: 'Ready', ...after.ready };
    const decision = { steps: [], ready, failure: after.reconciling };
    await this.#writeStatus({ object, decision }, signal).catch(() => this.#recordEvent(object, ready));
  }
}
