import { issueText } from '@vitrine/config/issue-text';
import { PERMISSIONS } from '@vitrine/gateway-keys/permission';
import { createHash } from 'node:crypto';
import type { ConditionReason } from '../runtime/conditions.ts';
import type { GatewayKeyObject } from './gateway-key-resource.ts';
import { gatewayKeySpec, TEXT_RULES, type GatewayKeySpec, type TextField } from './gateway-key-spec.ts';
import { isConditionReason } from './observed-key.ts';

/** Annotations with this prefix record when and why a token was created. Changed by others, they would cause repeated rotations. */
const OWN_ANNOTATIONS = 'vitrine.dev/';
/** Of Kubernetes. */
const SECRET_NAME_MAX = 253;

/** Deterministic for every pass, so that steps before a crash are found again. Spec: G8.1. */
export function keyIdOf({ metadata: { uid }, spec }: GatewayKeyObject): string {
  const { keyId } = (spec ?? {}) as { keyId?: unknown };
  if (typeof keyId === 'string' && keyId !== '') return keyId;
  return `gk_${createHash('sha256').update(uid).digest('hex').slice(0, 16)}`;
}

/** The spec, or why it cannot be used: the rules of the gateway that a schema of Kubernetes cannot express. */
export function readSpec({ metadata: { name }, spec }: GatewayKeyObject): GatewayKeySpec | ConditionReason {
  const parsed = gatewayKeySpec.safeParse(spec ?? {}, { error: issueText });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { reason: 'InvalidSpec', message: `spec.${issue?.path.join('.')}: ${issue?.message}` };
  }
  const { permissions } = parsed.data;
  const unknown = permissions.filter((permission) => !PERMISSIONS.some((known) => known === permission));
  if (unknown.length > 0) {
    const message = `unknown permissions: ${unknown.join(', ')}; known permissions: ${PERMISSIONS.join(', ')}`;
    return { reason: 'InvalidPermission', message };
  }
  const own = Object.keys(parsed.data.secretTemplate?.annotations ?? {}).find((name) => name.startsWith(OWN_ANNOTATIONS));
  if (own !== undefined) {
    const message = `spec.secretTemplate.annotations: ${own} is written by the operator; use another prefix than ${OWN_ANNOTATIONS}`;
    return { reason: 'InvalidSpec', message };
  }
  if (secretNameOf(name, parsed.data).length > SECRET_NAME_MAX) {
    const message = 'metadata.name: too long for the name of a Secret; make a GatewayKey with a shorter name, or with secretName';
    return { reason: 'InvalidSpec', message };
  }
  for (const [field, rule] of Object.entries(TEXT_RULES)) {
    const error = rule?.safeParse(parsed.data[field as TextField] ?? '', { error: issueText }).error;
    if (error !== undefined) return { reason: 'InvalidSpec', message: `spec.${field}: ${error.issues[0]?.message}` };
  }
  return parsed.data;
}

export function secretNameOf(name: string, spec: GatewayKeySpec): string {
  return spec.tokenSecretRef?.name ?? spec.secretName ?? `${name}-gateway-key`;
}

/** `NAMESPACE/NAME` of the Secret. */
export function secretKeyOf(object: GatewayKeyObject): string {
  const { namespace, name } = object.metadata;
  const spec = readSpec(object);
  return `${namespace}/${isConditionReason(spec) ? `${name}-gateway-key` : secretNameOf(name, spec)}`;
}

/** The effect of deleting a GatewayKey. Read without the rest of the spec, which may not parse, because a key is revoked only on request. */
export function deletionPolicyOf({ spec }: Pick<GatewayKeyObject, 'spec'>): 'Revoke' | 'Orphan' | 'unreadable' {
  if (typeof (spec ?? {}) !== 'object') return 'unreadable';
  // The API server fills in the default; an object created without it has none.
  const { deletionPolicy = 'Revoke' } = (spec ?? {}) as { deletionPolicy?: unknown };
  return deletionPolicy === 'Revoke' || deletionPolicy === 'Orphan' ? deletionPolicy : 'unreadable';
}

/** The Secret created by a GatewayKey, even if its spec does not parse: a readable name, else that of the status, else the default. */
export function madeSecretName({ metadata: { name }, spec, status }: GatewayKeyObject): string {
  const { secretName } = (spec ?? {}) as { secretName?: unknown };
  if (typeof secretName === 'string') return secretName;
  return typeof status?.secretName === 'string' ? status.secretName : `${name}-gateway-key`;
}
