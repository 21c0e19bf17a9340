import { createToken } from '@vitrine/credentials/token';
import type { ManagedKeyRows } from '@vitrine/gateway-keys/managed-key';
import type { ApiRequests } from '../runtime/kubernetes-client.ts';
import type { ReconcileResult } from '../runtime/controller.ts';
import type { Logger } from '@vitrine/telemetry/logger';
import type { EventRecorder, ObjectEvent } from '../runtime/event-recorder.ts';
import { afterFailure } from '../runtime/failure.ts';
import { readObject } from '../runtime/object-requests.ts';
import { decideKey, isSettled, KEY_KEPT } from './decide-key.ts';
import { PAUSED, type GatewayKeyObject } from './gateway-key-resource.ts';
import { KeyActions, type StagedToken } from './key-actions.ts';
import { deletionPolicyOf, keyIdOf, madeSecretName, readSpec, secretNameOf } from './read-spec.ts';
import { isConditionReason, type ObservedResources, type SecretObject, type NamespaceObject } from './observed-key.ts';
import { observeKey, type ObserveOptions } from './observe-key.ts';
import { eventSubject, writeKeyStatus } from './write-key-status.ts';

/** A key needs at most five steps. More indicate two conflicting controllers. */
const MAX_STEPS = 10;

export interface GatewayKeyDependencies extends ObserveOptions {
  readonly server: ApiRequests;
  readonly rows: ManagedKeyRows;
  readonly hasPlan: (name: string) => Promise<boolean>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly events: EventRecorder;
  /** From the cache; undefined if missing there. */
  readonly cached: {
    readonly key: (key: string) => GatewayKeyObject | undefined;
    readonly namespace: (name: string) => NamespaceObject | undefined;
  };
  readonly random: (bytes: number) => Buffer;
}

/** Brings row and Secret in line with GatewayKeys: gathers, decides, does one step, and decides again until nothing is left to do. */
export class GatewayKeyReconciler {
  readonly #dependencies: GatewayKeyDependencies;
  readonly #actions: KeyActions;
  /** By uid of the GatewayKey; as many as there are rotations in progress. */
  readonly #staged = new Map<string, StagedToken>();

  constructor(dependencies: GatewayKeyDependencies) {
    this.#dependencies = dependencies;
    const newToken = () => createToken('sgk_', dependencies.random);
    this.#actions = new KeyActions({ ...dependencies, staged: this.#staged, newToken });
  }

  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    const object = this.#dependencies.cached.key(key);
    if (object === undefined) return {};
    const unread = { namespace: undefined, secret: undefined, row: undefined, problem: undefined };
    const resources: ObservedResources = { object, ...unread, hasPlan: true };
    try {
      return await this.#converge(resources, signal);
    } catch (error) {
      if (!signal.aborted) await this.#reportFailure(resources, error, signal);
      throw error;
    }
  }

  async #converge(resources: ObservedResources, signal: AbortSignal): Promise<ReconcileResult> {
    await this.#gather(resources, signal);
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const observed = observeKey(resources, this.#dependencies, this.#staged.get(resources.object.metadata.uid));
      const step = decideKey(observed);
      if (step === undefined) return {};
      if (isSettled(step)) {
        await writeKeyStatus(observed, step, this.#dependencies, signal);
        return { requeueAfterMs: step.requeueAfterMs };
      }
      await this.#actions.run(step.action, resources, observed, signal);
      if (step.event !== undefined && resources.problem === undefined) this.#report(resources, step.event);
      if (step.action === 'removeFinalizer') {
        this.#staged.delete(resources.object.metadata.uid);
        return {};
      }
    }
    throw new Error(`a GatewayKey is not settled after ${MAX_STEPS} steps`);
  }

  #report(resources: ObservedResources, event: ObjectEvent): void {
    const { events, logger } = this.#dependencies;
    events.record(eventSubject(resources.object), event);
    const { namespace, name } = resources.object.metadata;
    if (event === KEY_KEPT) logger.warn({ namespace, name, next_step: event.note }, 'key kept: unreadable deletionPolicy');
  }

  async #gather(resources: ObservedResources, signal: AbortSignal): Promise<void> {
    const { server, rows, hasPlan, cached } = this.#dependencies;
    const { namespace, annotations = {}, deletionTimestamp, name } = resources.object.metadata;
    const spec = readSpec(resources.object);
    const isDeleted = deletionTimestamp !== undefined;
    if (!isDeleted && annotations[PAUSED] === 'true') return;
    const readSecret = async () => {
      if (isDeleted ? deletionPolicyOf(resources.object) === 'Revoke' : isConditionReason(spec)) return undefined;
      const secretName = isDeleted || isConditionReason(spec) ? madeSecretName(resources.object) : secretNameOf(name, spec);
      // Never from a cache, because an object missing there may exist.
      const path = `/api/v1/namespaces/${namespace}/secrets/${encodeURIComponent(secretName)}`;
      return await readObject<SecretObject>(server, path, { signal });
    };
    const readNamespace = async () =>
      isDeleted
        ? undefined
        : (cached.namespace(namespace) ??
          (await readObject<NamespaceObject>(server, `/api/v1/namespaces/${namespace}`, { signal })));
    const readPlan = async () => isDeleted || isConditionReason(spec) || spec.plan === undefined || (await hasPlan(spec.plan));
    [resources.secret, resources.namespace, resources.row, resources.hasPlan] = await Promise.all([
      readSecret(),
      readNamespace(),
      rows.read(keyIdOf(resources.object)),
      readPlan(),
    ]);
  }

  /** The error itself is thrown by the caller. A status that cannot be written is an event. */
  async #reportFailure(resources: ObservedResources, error: unknown, signal: AbortSignal): Promise<void> {
    const after = afterFailure(error, resources.object);
    if (after === undefined) return;
    const isRevoking = resources.object.metadata.deletionTimestamp !== undefined && after.ready.reason === 'DatabaseUnavailable';
    const ready = isRevoking ? { ...after.ready, reason: 'Revoking' } : after.ready;
    try {
      const settled = { ready, reconciling: after.reconciling, isPartial: true };
      await writeKeyStatus(observeKey(resources, this.#dependencies, undefined), settled, this.#dependencies, signal);
    } catch {
      const { reason, message: note } = after.reconciling;
      this.#dependencies.events.record(eventSubject(resources.object), { type: 'Warning', reason, action: 'Reconcile', note });
    }
  }
}
