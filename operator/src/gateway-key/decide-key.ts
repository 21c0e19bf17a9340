import { parseDuration } from '@vitrine/config/durations';
import { MANAGED_KEY_FIELDS, type ManagedKey, type ManagedKeyFields } from '@vitrine/gateway-keys/managed-key';
import { effectivePermissions } from '@vitrine/gateway-keys/role';
import { readConditions, type Condition, type ConditionReason } from '../runtime/conditions.ts';
import type { ObjectEvent } from '../runtime/event-recorder.ts';
import { FINALIZER, PAUSED, ROTATE, SKIP_REVOCATION, type GatewayKeyObject } from './gateway-key-resource.ts';
import type { GatewayKeySpec } from './gateway-key-spec.ts';
import { deletionPolicyOf, secretNameOf } from './read-spec.ts';
import { isConditionReason, type ObservedKey, type ObservedSecret } from './observed-key.ts';

/** How often user-provided Secrets are read, and problems that no watch reports are checked again. */
const POLL_MS = 60_000;
/** Node's timers are bounded; keys are resynced more often anyway. */
const MAX_WAIT_MS = 86_400_000;

/** The next missing step. Each can be repeated, because after a crash the same or the next one follows. */
export type KeyAction =
  | 'addFinalizer'
  | 'createSecret'
  | 'describeSecret'
  | 'register'
  | 'adopt'
  | 'update'
  | 'stageToken'
  | 'publishToken'
  | 'promoteToken'
  | 'replaceToken'
  | 'revoke'
  | 'orphan'
  | 'removeFinalizer';

interface KeyStep {
  readonly action: KeyAction;
  /** To record when it is done. */
  readonly event?: ObjectEvent;
}

/** Nothing more to do now. */
export interface Settled {
  readonly ready: { readonly status: 'True' | 'False' | 'Unknown' } & ConditionReason;
  /** Only a change by a user can resolve it. */
  readonly isStalled?: boolean;
  readonly reconciling?: ConditionReason;
  /** Not everything was observed, so the other fields of the status are kept. */
  readonly isPartial?: boolean;
  readonly requeueAfterMs?: number | undefined;
}

/** The next step towards the spec of a GatewayKey, or its settled state. Undefined when the operator has nothing to do with it. */
export function decideKey(observed: ObservedKey): KeyStep | Settled | undefined {
  const step = decideStep(observed);
  const isLost = observed.row === undefined && lastReady(observed.object)?.status === 'True';
  return isLost && step !== undefined && !isSettled(step) && MAKES_ROW.has(step.action) ? ROW_MISSING : step;
}

/** Like `decideKey`, but also for a key whose row is missing and whose status does not report it yet. */
export function decideStep(observed: ObservedKey): KeyStep | Settled | undefined {
  const { object, spec, tenant, problem } = observed;
  const { deletionTimestamp, annotations = {}, finalizers = [] } = object.metadata;
  if (deletionTimestamp !== undefined) return finalizers.includes(FINALIZER) ? decideDeletion(observed) : undefined;
  if (annotations[PAUSED] === 'true') return { ready: pausedReady(observed), isPartial: true };
  if (tenant?.isTerminating === true) return undefined;
  if (problem !== undefined) return stalled(problem);
  if (isConditionReason(spec)) return stalled(spec);
  const { fields } = observed;
  if (fields === undefined) return stalled(NOT_MAPPED);
  const beyond = [...effectivePermissions(fields.role, fields.permissions)].filter((one) => tenant?.ceiling.has(one) !== true);
  if (beyond.length > 0) return stalled(deniedBy(beyond));
  if (observed.row !== undefined && observed.row.owner_uid !== object.metadata.uid)
    return decideForeignRow(observed, observed.row, spec, fields);
  if (!finalizers.includes(FINALIZER)) return { action: 'addFinalizer' };
  if (observed.row !== undefined && !observed.isPepperKnown)
    return { ready: { status: 'False', ...NO_PEPPER }, requeueAfterMs: POLL_MS };
  const step = spec.tokenSecretRef === undefined ? decideGenerated(observed, spec, fields) : decideGiven(observed, spec, fields);
  return isSettled(step) && step.ready.status === 'True' && !observed.hasPlan ? withoutPlan(step, spec.plan) : step;
}

export function isSettled(step: KeyStep | Settled): step is Settled {
  return 'ready' in step;
}

/** The first steps of a key without a row. */
const MAKES_ROW: ReadonlySet<KeyAction> = new Set(['createSecret', 'publishToken', 'register']);

/** A missing row is reported in the status before the key is registered again. Meanwhile the watch returns the status. */
const ROW_MISSING_MS = 500;
const ROW_MISSING: Settled = {
  ready: { status: 'False', reason: 'RowMissing', message: 'the key is gone from the database, and is registered again' },
  reconciling: { reason: 'RowMissing', message: 'the key is registered again' },
  requeueAfterMs: ROW_MISSING_MS,
};

/** The key is registered, but the gateway rejects its requests until the plan exists. A new plan triggers another pass. */
function withoutPlan(step: Settled, plan: string | undefined): Settled {
  const message = `there is no plan "${plan}", so the gateway rejects requests of the key: create it, or change spec.plan`;
  return { ...step, ready: { status: 'False', reason: 'PlanNotFound', message }, isStalled: true };
}

function lastReady({ status }: GatewayKeyObject): Condition | undefined {
  return readConditions(status).find(({ type }) => type === 'Ready');
}

function wasRegistered(object: GatewayKeyObject): boolean {
  return object.status?.keyId !== undefined || lastReady(object)?.reason === ROW_MISSING.ready.reason;
}

const NOT_MAPPED: ConditionReason = {
  reason: 'TenantNotMapped',
  message: 'the namespace belongs to no tenant: a cluster administrator labels it vitrine.dev/org and vitrine.dev/workspace',
};
const NO_PEPPER: ConditionReason = {
  reason: 'PepperMissing',
  message: 'the token was hashed with a pepper that the operator does not have: put it back; nothing is changed until then',
};

function deniedBy(beyond: readonly string[]): ConditionReason {
  const message = `${beyond.join(', ')} is beyond what keys of this namespace may do; a cluster administrator sets its annotation vitrine.dev/permission-ceiling`;
  return { reason: 'PermissionDenied', message };
}

function stalled(problem: ConditionReason, requeueAfterMs: number | undefined = POLL_MS): Settled {
  return { ready: { status: 'False', ...problem }, isStalled: true, requeueAfterMs };
}

/** A paused key keeps the status of its Ready condition. */
function pausedReady({ object }: ObservedKey): Settled['ready'] {
  const last = lastReady(object);
  return {
    status: last?.status ?? 'Unknown',
    reason: 'Paused',
    message: `nothing is done while the annotation ${PAUSED} is true`,
  };
}

function decideDeletion({ object, row }: ObservedKey): KeyStep {
  if (object.metadata.annotations?.[SKIP_REVOCATION] === 'true') return { action: 'removeFinalizer' };
  const isOwn = row?.owner_uid === object.metadata.uid;
  if (!isOwn) return { action: 'removeFinalizer' };
  const policy = deletionPolicyOf(object);
  if (policy !== 'Revoke') return { action: 'orphan', ...(policy === 'unreadable' && { event: KEY_KEPT }) };
  return row.isRevoked ? { action: 'removeFinalizer' } : { action: 'revoke' };
}

function decideForeignRow(
  { object }: ObservedKey,
  row: ManagedKey,
  spec: GatewayKeySpec,
  fields: ManagedKeyFields,
): KeyStep | Settled {
  const isSameTenant = row.org_id === fields.org_id && row.workspace_id === fields.workspace_id;
  const isFree = row.owner_uid === undefined && row.managed_resource === undefined && !row.isRevoked;
  if (isFree && isSameTenant && spec.adoptionPolicy === 'IfSameTenant') {
    if (object.metadata.finalizers?.includes(FINALIZER) !== true) return { action: 'addFinalizer' };
    const note = 'took over a key that was made over REST';
    return { action: 'adopt', event: { type: 'Normal', reason: 'Adopted', action: 'Adopt', note } };
  }
  // Owners in another tenant are not named.
  const owner = isSameTenant ? (row.managed_resource ?? 'a key made over REST') : 'another key';
  const adoption = isFree && isSameTenant ? ', or set adoptionPolicy: IfSameTenant' : '';
  return stalled({
    reason: 'IdConflict',
    message: `the id ${row.id} belongs to ${owner}: make a GatewayKey with another keyId${adoption}`,
  });
}

function decideGenerated(observed: ObservedKey, spec: GatewayKeySpec, fields: ManagedKeyFields): KeyStep | Settled {
  const { secret, row, object } = observed;
  if (secret !== undefined && !secret.isOwn && !isAdoptable(secret, spec)) return stalled(secretConflict(observed, spec));
  if (row === undefined) {
    if (secret === undefined) return { action: 'createSecret' };
    if (secret.token === 'malformed') return { action: 'publishToken', event: REISSUED };
    return { action: 'register', ...(wasRegistered(object) && { event: RESTORED }) };
  }
  if (secret?.token === 'next') return { action: 'promoteToken', event: ROTATED };
  if (secret === undefined || secret.token !== 'current' || row.isRevoked) return newToken(observed, true);
  if (isRotationDue(observed, spec, secret)) return newToken(observed, false);
  if (!secret.isDescribed) return { action: 'describeSecret' };
  if (!isSame(row, fields)) return { action: 'update' };
  return registered(waitForInterval(observed, spec, secret));
}

function isAdoptable(secret: ObservedSecret, spec: GatewayKeySpec): boolean {
  return secret.isOrphan && secret.token === 'current' && spec.adoptionPolicy === 'IfSameTenant';
}

function secretConflict({ object }: ObservedKey, spec: GatewayKeySpec): ConditionReason {
  const name = secretNameOf(object.metadata.name, spec);
  return {
    reason: 'SecretConflict',
    message: `the Secret ${name} belongs to something else and is not touched: delete it, or make a GatewayKey with another secretName`,
  };
}

/** The next token is accepted before it is published. Without a usable published token, it is published at once. */
function newToken({ stagedAt, propagationMs, now }: ObservedKey, isUrgent: boolean): KeyStep | Settled {
  if (stagedAt === undefined) return { action: 'stageToken' };
  const waitMs = Math.min(stagedAt + propagationMs - now, propagationMs);
  if (isUrgent || waitMs <= 0) return { action: 'publishToken', ...(isUrgent && { event: REISSUED }) };
  const reconciling = { reason: 'Rotating', message: 'the next token is published as soon as all gateways accept it' };
  return { ready: { status: 'True', ...REGISTERED }, reconciling, requeueAfterMs: waitMs };
}

function decideGiven(observed: ObservedKey, spec: GatewayKeySpec, fields: ManagedKeyFields): KeyStep | Settled {
  const { secret, row, object } = observed;
  const ref = `key ${spec.tokenSecretRef?.key} of the Secret ${spec.tokenSecretRef?.name}`;
  if (secret === undefined) return stalled({ reason: 'SecretMissing', message: `${ref} does not exist: create it` });
  if (secret.token === 'malformed')
    return stalled({
      reason: 'InvalidToken',
      message: `${ref} must contain 24 to 256 visible ASCII characters without spaces and commas`,
    });
  if (row === undefined) return { action: 'register', ...(wasRegistered(object) && { event: RESTORED }) };
  if (row.isRevoked && secret.token === 'current')
    return stalled({ reason: 'TokenConflict', message: `${ref} contains a revoked token: replace it with another one` });
  if (secret.token === 'next') return { action: 'promoteToken', event: ROTATED };
  if (secret.token === 'other') return { action: 'replaceToken', event: ROTATED };
  if (!isSame(row, fields)) return { action: 'update' };
  return registered(POLL_MS);
}

function registered(requeueAfterMs: number | undefined): Settled {
  return { ready: { status: 'True', ...REGISTERED }, requeueAfterMs };
}

const REGISTERED: ConditionReason = { reason: 'Registered', message: 'the gateway accepts the token of the Secret' };
const event = (type: ObjectEvent['type'], reason: string, action: string, note: string): ObjectEvent => ({
  type,
  reason,
  action,
  note,
});
const REISSUED = event('Warning', 'SecretReissued', 'Reissue', 'the Secret had no valid token, so a new one was written');
const RESTORED = event('Warning', 'RowRestored', 'Register', 'the key was gone from the database and was registered again');
export const KEY_KEPT = event(
  'Warning',
  'KeyKept',
  'Orphan',
  'spec.deletionPolicy could not be read, so key and Secret were kept: revoke the key with the gateway when nobody needs it',
);
const ROTATED = event('Normal', 'Rotated', 'Rotate', 'the key has a new token; the old one is accepted for the grace period');

function isRotationDue(
  { object, now }: ObservedKey,
  { rotation = { gracePeriod: '' } }: GatewayKeySpec,
  secret: ObservedSecret,
): boolean {
  const rotate = object.metadata.annotations?.[ROTATE];
  if (rotate !== undefined && rotate !== secret.handledRotation) return true;
  if (rotation.trigger !== undefined && rotation.trigger !== secret.handledTrigger) return true;
  const intervalMs = parseDuration(rotation.interval ?? '');
  return intervalMs !== undefined && rotationDueAt(secret.rotatedAt, intervalMs, now) <= now;
}

function waitForInterval({ now }: ObservedKey, { rotation }: GatewayKeySpec, secret: ObservedSecret): number | undefined {
  const intervalMs = parseDuration(rotation?.interval ?? '');
  if (intervalMs === undefined) return undefined;
  return Math.min(MAX_WAIT_MS, rotationDueAt(secret.rotatedAt, intervalMs, now) - now);
}

function isSame(row: ManagedKey, fields: ManagedKeyFields): boolean {
  return MANAGED_KEY_FIELDS.every((field) => comparable(row[field]) === comparable(fields[field]));
}

/** The same for lists whatever their order. */
function comparable(value: ManagedKeyFields[keyof ManagedKeyFields]): string | undefined {
  return typeof value === 'object' ? value.toSorted().join() : value;
}

/** Clocks of a cluster differ by less than this. The shortest rotation interval is equally long. */
const MAX_AHEAD_MS = 3_600_000;

/** When a token is due for replacement, milliseconds since the epoch. `rotatedAt`: when it was created, if known. A time in the future, from a
 *  wrong clock, counts as unknown: otherwise the token would stay until that day. */
export function rotationDueAt(rotatedAt: number | undefined, intervalMs: number, now: number): number {
  const isKnown = rotatedAt !== undefined && rotatedAt <= now + MAX_AHEAD_MS;
  return (isKnown ? rotatedAt : 0) + intervalMs;
}
