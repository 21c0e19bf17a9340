import { isFault } from '@vitrine/faults/fault';
import { classifyPostgresError } from '@vitrine/postgres/postgres-error';
import { isDeepStrictEqual } from 'node:util';
import { API_VERSION } from '../custom-resources/custom-resource.ts';
import type { ApiRequests } from '../runtime/api-server.ts';
import { isTransition, readConditions, updateConditions, type WantedCondition } from '../runtime/conditions.ts';
import type { ReconcileResult } from '../runtime/controller.ts';
import type { EventRecorder } from '../runtime/event-recorder.ts';
import { mergeStatus } from '../runtime/object-requests.ts';
import { decide, inUse, IN_USE_INTERVAL_MS, notReady, type Decision } from './decide.ts';
import type { PlanLimitsObject } from './plan-limits-resource.ts';
import type { PlanLimitsWorld } from './plan-limits-world.ts';

interface Applied {
  readonly object: PlanLimitsObject | undefined;
  readonly decision: Decision;
}

/** One pass of one resource: gather -> decide -> apply, then its status. */
export class PlanLimitsReconciler {
  readonly #server: ApiRequests;
  readonly #world: Pick<PlanLimitsWorld, 'path' | 'read' | 'gather' | 'apply'>;
  readonly #events: Pick<EventRecorder, 'record'>;

  constructor(
    server: ApiRequests,
    world: Pick<PlanLimitsWorld, 'path' | 'read' | 'gather' | 'apply'>,
    events: Pick<EventRecorder, 'record'>,
  ) {
    this.#server = server;
    this.#world = world;
    this.#events = events;
  }

  /** `name`: of the resource, which is that of the plan. */
  async reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult> {
    const object = await this.#world.read(name, signal);
    try {
      const observed = await this.#world.gather(object, signal);
      const applied = await this.#apply(decide(observed), object, signal);
      await this.#writeStatus(applied, signal);
      return { requeueAfterMs: applied.decision.requeueAfterMs };
    } catch (error) {
      await this.#reportFailure(object, error, signal);
      throw error;
    }
  }

  async #apply(decision: Decision, object: PlanLimitsObject | undefined, signal: AbortSignal): Promise<Applied> {
    let current = object;
    for (const step of decision.steps) {
      signal.throwIfAborted();
      const result = await this.#world.apply(step, current, signal);
      // A key or workspace got the plan since it was gathered.
      if (result !== undefined && 'workspaces' in result)
        return { object: current, decision: { steps: [], ready: inUse(result), requeueAfterMs: IN_USE_INTERVAL_MS } };
      current = result;
    }
    return { object: current, decision };
  }

  /** Writes nothing where nothing would change. */
  async #writeStatus({ object, decision }: Applied, signal: AbortSignal): Promise<void> {
    const { ready, isStalled = false } = decision;
    if (object === undefined || ready === undefined) return;
    const { generation = 0, name = '', resourceVersion = '' } = object.metadata ?? {};
    const before = readConditions(object.status);
    const stalled: WantedCondition = { ...ready, type: 'Stalled', status: 'True' };
    const now = new Date().toISOString().replace(/\.\d+/, '');
    const conditions = updateConditions(before, isStalled ? [ready, stalled] : [ready], generation, now);
    const status = { observedGeneration: generation, conditions };
    if (isDeepStrictEqual(status, object.status)) return;
    await mergeStatus(this.#server, this.#world.path(name), status, resourceVersion, signal);
    if (!isTransition(before, ready)) return;
    const { reason, message: note } = ready;
    const type = ready.status === 'True' || reason === 'Paused' ? 'Normal' : 'Warning';
    const subject = { ...object, apiVersion: API_VERSION, kind: 'PlanLimits' };
    this.#events.record(subject, { type, reason, action: 'Reconcile', note });
  }

  /** A database that is away is shown in the status; the pass is repeated all the same. */
  async #reportFailure(object: PlanLimitsObject | undefined, error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted || isFault(error) || !['connection', 'timeout'].includes(classifyPostgresError(error))) return;
    const ready = notReady('DatabaseUnavailable', 'the database does not respond; it is tried again');
    await this.#writeStatus({ object, decision: { steps: [], ready } }, signal).catch(() => {});
  }
}
