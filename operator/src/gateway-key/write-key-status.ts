import { isDeepStrictEqual } from 'node:util';
import { isTransition, readConditions, updateConditions, type WantedCondition } from '../runtime/conditions.ts';
import { API_VERSION } from '../custom-resources/custom-resource.ts';
import type { EventRecorder, EventSubject, ObjectEvent } from '../runtime/event-recorder.ts';
import type { ApiRequests } from '../runtime/kubernetes-client.ts';
import { mergeStatus } from '../runtime/object-requests.ts';
import type { Settled } from './decide-key.ts';
import { secretNameOf } from './read-spec.ts';
import { gatewayKeyPath, type GatewayKeyObject, type GatewayKeyStatus } from './gateway-key-resource.ts';
import { isConditionReason, type ObservedKey } from './observed-key.ts';

/** Writes the status if it differs from the last one, and records an event for news. */
export async function writeKeyStatus(
  observed: ObservedKey,
  settled: Settled,
  { server, events }: { readonly server: ApiRequests; readonly events: EventRecorder },
  signal: AbortSignal,
): Promise<void> {
  const { object } = observed;
  const change = statusChange(object.status ?? {}, keyStatus(observed, settled));
  if (change === undefined) return;
  await mergeStatus(server, gatewayKeyPath(object), change, object.metadata.resourceVersion, signal);
  const event = statusEvent(observed, settled);
  if (event !== undefined) events.record(eventSubject(object), event);
}

export function eventSubject({ metadata: { name, namespace, uid, resourceVersion } }: GatewayKeyObject): EventSubject {
  return { apiVersion: API_VERSION, kind: 'GatewayKey', metadata: { name, namespace, uid, resourceVersion } };
}

/** The status to write, without secrets. */
function keyStatus(observed: ObservedKey, settled: Settled): GatewayKeyStatus {
  const { object, now, keyId, spec, secret, row, fields } = observed;
  const { generation, name } = object.metadata;
  const last = object.status ?? {};
  const conditions = updateConditions(readConditions(last), wantedConditions(observed, settled), generation, rfc3339(now));
  const isRegistered = row?.owner_uid === object.metadata.uid;
  if (isConditionReason(spec) || fields === undefined || settled.isPartial === true)
    return { ...last, observedGeneration: generation, conditions };
  const isShown = secret !== undefined && (secret.isOwn || spec.tokenSecretRef !== undefined);
  return {
    observedGeneration: generation,
    conditions,
    ...(isRegistered && { keyId, orgId: fields.org_id, workspaceId: fields.workspace_id }),
    secretName: secretNameOf(name, spec),
    ...(isShown && {
      tokenPrefix: secret.prefix,
      ...(secret.rotatedAt !== undefined && { lastRotationTime: rfc3339(secret.rotatedAt) }),
      ...(secret.handledRotation !== undefined && { lastHandledRotation: secret.handledRotation }),
      ...(secret.handledTrigger !== undefined && { lastHandledTrigger: secret.handledTrigger }),
    }),
  };
}

/** A merge patch from the one status to the other; undefined when they are the same. */
function statusChange(before: GatewayKeyStatus, after: GatewayKeyStatus): object | undefined {
  if (isDeepStrictEqual(before, after)) return undefined;
  const removed = Object.keys(before).filter((field) => !(field in after));
  return { ...after, ...Object.fromEntries(removed.map((field) => [field, null])) };
}

/** An event when the Ready condition changed its status or reason, or when the repair failed. */
function statusEvent({ object }: ObservedKey, { ready, reconciling, isPartial }: Settled): ObjectEvent | undefined {
  const before = readConditions(object.status);
  if (isTransition(before, { type: 'Ready', ...ready })) {
    const type = ready.status === 'False' ? 'Warning' : 'Normal';
    return { type, reason: ready.reason, action: 'Reconcile', note: ready.message };
  }
  if (isPartial !== true || reconciling === undefined) return undefined;
  if (!isTransition(before, { type: 'Reconciling', status: 'True', ...reconciling })) return undefined;
  return { type: 'Warning', reason: reconciling.reason, action: 'Reconcile', note: reconciling.message };
}

function wantedConditions(
  { object, secret, row, spec }: ObservedKey,
  { ready, isStalled, reconciling, isPartial }: Settled,
): WantedCondition[] {
  const isReconciling = reconciling === undefined ? [] : [{ type: 'Reconciling', status: 'True' as const, ...reconciling }];
  if (isPartial === true) {
    const rest = readConditions(object.status).filter(({ type }) => type === 'SecretReady' || type === 'Registered');
    return [{ type: 'Ready', ...ready }, ...rest, ...isReconciling];
  }
  const isGiven = !isConditionReason(spec) && spec.tokenSecretRef !== undefined;
  const hasToken = secret !== undefined && (isGiven || secret.isOwn) && secret.token !== 'malformed';
  const isRegistered = row !== undefined && row.owner_uid === object.metadata.uid && !row.isRevoked;
  return [
    { type: 'Ready', ...ready },
    hasToken
      ? { type: 'SecretReady', status: 'True', reason: 'TokenPresent', message: 'the Secret has a token' }
      : { type: 'SecretReady', status: 'False', reason: 'NoToken', message: 'there is no Secret of this key with a token' },
    isRegistered
      ? { type: 'Registered', status: 'True', reason: 'RowPresent', message: 'the key is in the database' }
      : { type: 'Registered', status: 'False', reason: 'NoRow', message: 'the key is not in the database' },
    ...isReconciling,
    ...(isStalled === true ? [{ type: 'Stalled', status: 'True' as const, reason: ready.reason, message: ready.message }] : []),
  ];
}

function rfc3339(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
