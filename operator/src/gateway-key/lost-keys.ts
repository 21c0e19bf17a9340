import type { NewManagedKey } from '@vitrine/gateway-keys/managed-key';
import { readConditions } from '../runtime/conditions.ts';
import type { ObjectEvent } from '../runtime/event-recorder.ts';
import { keyOf } from '../runtime/list-watch.ts';
import { listPages } from '../runtime/object-requests.ts';
import { decideKey, decideStep, isSettled } from './decide-key.ts';
import type { GatewayKeyDependencies } from './gateway-key-reconciler.ts';
import { PAUSED, type GatewayKeyObject } from './gateway-key-resource.ts';
import { registrationOf } from './key-actions.ts';
import { secretKeyOf } from './read-spec.ts';
import { MANAGED_BY } from './key-secret.ts';
import type { ObservedKey, SecretObject } from './observed-key.ts';
import { observeKey } from './observe-key.ts';
import { eventSubject, writeKeyStatus } from './write-key-status.ts';

/** For all keys together, so that a slow API server does not prevent registering thousands of keys again within 30 s. */
const STATUSES_MS = 5_000;
const STATUSES_AT_ONCE = 16;

/** Whether the status reports that the key has a row, or is about to be registered again. */
export function shouldHaveRow({ metadata, status }: GatewayKeyObject): boolean {
  if (metadata.deletionTimestamp !== undefined || metadata.annotations?.[PAUSED] === 'true') return false;
  return readConditions(status).some(
    ({ type, status: is, reason }) => type === 'Ready' && (is === 'True' || reason === 'RowMissing'),
  );
}

/** Registers keys whose rows are missing, with the tokens of their Secrets: one page of Secrets after the other, each in one transaction. Before
 *  its page is registered, a key's status reports that it is not ready. Keys that need more than a row, or whose Secrets the operator did not
 *  create, are left to the reconciler. No worker may reconcile the keys in the meantime. `secretLists`: their paths. */
export async function registerLostKeys(
  keys: readonly string[],
  dependencies: GatewayKeyDependencies,
  secretLists: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { server, rows, events, cached, logger } = dependencies;
  const statusesUntil = performance.now() + STATUSES_MS;
  const lost = new Map<string, string>();
  for (const key of keys) {
    const object = cached.key(key);
    if (object !== undefined) lost.set(secretKeyOf(object), key);
  }
  const query = { labelSelector: `${MANAGED_BY.label}=${MANAGED_BY.value}` };
  let registered = 0;
  for (const path of secretLists)
    for await (const { items } of listPages<SecretObject>(server, { path, query, signal })) {
      const lostKeys = () =>
        (items ?? []).flatMap((secret) => lostKeyOf(secret, cached.key(lost.get(keyOf(secret)) ?? ''), dependencies));
      await writeStatuses(lostKeys(), dependencies, statusesUntil, signal);
      signal.throwIfAborted();
      // Read from the cache again, because keys may have been deleted while statuses were written.
      const found = lostKeys();
      const outcomes = await rows.registerAll(found.map(({ registration }) => registration));
      for (const [at, { observed, event }] of found.entries()) {
        if (outcomes[at] !== 'registered') continue;
        registered += 1;
        if (event !== undefined) events.record(eventSubject(observed.object), event);
      }
    }
  logger.warn({ lost: keys.length, registered }, 'lost keys registered again');
}

interface LostKey {
  readonly observed: ObservedKey;
  readonly registration: NewManagedKey;
  readonly event: ObjectEvent | undefined;
}

/** The key of a Secret, if it only needs to be registered. */
function lostKeyOf(
  secret: SecretObject,
  object: GatewayKeyObject | undefined,
  dependencies: GatewayKeyDependencies,
): readonly LostKey[] {
  if (object === undefined) return [];
  const namespace = dependencies.cached.namespace(object.metadata.namespace);
  const read = { object, namespace, secret, row: undefined, hasPlan: true, problem: undefined };
  const observed = observeKey(read, dependencies, undefined);
  const step = decideStep(observed);
  if (step === undefined || isSettled(step) || step.action !== 'register') return [];
  return [{ observed, registration: registrationOf(observed, secret, dependencies.hashes), event: step.event }];
}

async function writeStatuses(
  lostKeys: readonly LostKey[],
  dependencies: GatewayKeyDependencies,
  until: number,
  signal: AbortSignal,
): Promise<void> {
  const waiting = lostKeys.values();
  const write = async () => {
    for (const { observed } of waiting) {
      if (performance.now() > until || signal.aborted) return;
      const step = decideKey(observed);
      if (step === undefined || !isSettled(step)) continue;
      // The reconciler runs next and reports why a status was refused.
      await writeKeyStatus(observed, step, dependencies, signal).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: STATUSES_AT_ONCE }, write));
}
