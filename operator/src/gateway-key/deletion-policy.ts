import type { GatewayKeyObject } from './gateway-key-resource.ts';

/** What the deletion of a GatewayKey does. It is read without the rest of the spec, which may not parse: a key that nobody asked to end goes on
 *  working. */
export function deletionPolicyOf({ spec }: Pick<GatewayKeyObject, 'spec'>): 'Revoke' | 'Orphan' | 'unreadable' {
  if (typeof (spec ?? {}) !== 'object') return 'unreadable';
  // The API server fills in the default; an object that was made without it has none.
  const { deletionPolicy = 'Revoke' } = (spec ?? {}) as { deletionPolicy?: unknown };
  return deletionPolicy === 'Revoke' || deletionPolicy === 'Orphan' ? deletionPolicy : 'unreadable';
}

/** The Secret that a GatewayKey made, also when its spec does not parse: a name that can be read, else that of the status, else the default. */
export function madeSecretName({ metadata: { name }, spec, status }: GatewayKeyObject): string {
  const { secretName } = (spec ?? {}) as { secretName?: unknown };
  if (typeof secretName === 'string') return secretName;
  return typeof status?.secretName === 'string' ? status.secretName : `${name}-gateway-key`;
}
