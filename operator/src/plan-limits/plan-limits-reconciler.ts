import { isDeepStrictEqual } from 'node:util';
import { API_VERSION } from '../custom-resources/custom-resource.ts';
import type { ApiRequests } from '../runtime/kubernetes-client.ts';
import { isTransition, readConditions, updateConditions, type WantedCondition } from '../runtime/conditions.ts';
import type { ReconcileResult } from '../runtime/controller.ts';
import type { EventRecorder } from '../runtime/event-recorder.ts';
import { afterFailure } from '../runtime/failure.ts';
import { mergeStatus } from '../runtime/object-requests.ts';
import { decide, inUse, IN_USE_INTERVAL_MS, type Decision } from './decide.ts';
import type { PlanLimitsObject } from './plan-limits-resource.ts';
import type { PlanLimitsRepository } from './plan-limits-repository.ts';

interface Applied {
  readonly object: PlanLimitsObject | undefined;
  readonly decision: Decision;
}

/** One pass of one resource: gather -> decide -> apply, then its status. */
export class PlanLimitsReconciler {
  readonly #server: ApiRequests;
  readonly #repository: Pick<PlanLimitsRepository, 'path' | 'read' | 'gather' | 'apply'>;
  readonly #events: Pick<EventRecorder, 'record'>;

  constructor(
    server: ApiRequests,
    repository: Pick<PlanLimitsRepository, 'path' | 'read' | 'gather' | 'apply'>,
    events: Pick<EventRecorder, 'record'>,
  ) {
    this.#server = server;
    this.#repository = repository;
    this.#events = events;
  }

  /** `name`: of the resource and the plan. */
  async reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult> {
    const object = await this.#repository.read(name, signal);
    try {
      const observed = await this.#repository.gather(object, signal);
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
      const result = await this.#repository.apply(step, current, signal);
      // A key or workspace got the plan since it was gathered.
      if (result !== undefined && 'workspaces' in result)
        return { object: current, decision: { steps: [], ready: inUse(result), requeueAfterMs: IN_USE_INTERVAL_MS } };
      current = result;
    }
    return { object: current, decision };
  }

  /** Writes nothing if nothing would change. */
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
    await mergeStatus(this.#server, this.#repository.path(name), status, resourceVersion, signal);
    const news = [ready, reconciling].find((condition) => condition !== undefined && isTransition(before, condition));
    if (news !== undefined) this.#recordEvent(object, news);
  }

  #recordEvent(object: PlanLimitsObject, { type: of, status, reason, message: note }: WantedCondition): void {
    const isNormal = of === 'Ready' && (status === 'True' || reason === 'Paused');
    const subject = { ...object, apiVersion: API_VERSION, kind: 'PlanLimits' };
    this.#events.record(subject, { type: isNormal ? 'Normal' : 'Warning', reason, action: 'Reconcile', note });
  }

  /** The pass is repeated anyway. A status that cannot be written is an event. */
  async #reportFailure(object: PlanLimitsObject | undefined, error: unknown, signal: AbortSignal): Promise<void> {
    if (object === undefined) return;
    const after = afterFailure(error, object);
    if (after === undefined) return;
    const ready: WantedCondition = { type: 'Ready', ...after.ready };
    const decision = { steps: [], ready, failure: after.reconciling };
    await this.#writeStatus({ object, decision }, signal).catch(() => this.#recordEvent(object, ready));
  }
}
