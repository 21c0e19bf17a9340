import type { TokenHashes } from '@vitrine/credentials/token-hashes';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import { type ClientSettings, isHashOf, observeSecret } from './key-secret.ts';
import { PAUSED } from './gateway-key-resource.ts';
import type { StagedToken } from './key-actions.ts';
import { keyFieldsOf } from './gateway-key-spec.ts';
import { keyIdOf, readSpec } from './read-spec.ts';
import { namespaceTenant, isConditionReason, type ObservedKey, type ObservedResources } from './observed-key.ts';

/** The context for observing keys. */
export interface ObserveOptions {
  readonly hashes: TokenHashes;
  readonly clients: ClientSettings;
  readonly defaultTenant: Tenant | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly propagationMs: number;
}

/** Interprets the data read for a key. `staged`: its next token, while this process has it. */
export function observeKey(
  { object, namespace, secret, row, hasPlan, problem }: ObservedResources,
  { hashes, clients, defaultTenant, clock, propagationMs }: ObserveOptions,
  staged: StagedToken | undefined,
): ObservedKey {
  const keyId = keyIdOf(object);
  const spec = readSpec(object);
  const isLive = object.metadata.deletionTimestamp === undefined && object.metadata.annotations?.[PAUSED] !== 'true';
  const tenant = isLive ? namespaceTenant(namespace, defaultTenant) : undefined;
  const isStaged = staged !== undefined && isHashOf(hashes, staged.token, row?.next);
  return {
    object,
    keyId,
    spec,
    tenant,
    secret:
      secret === undefined || isConditionReason(spec)
        ? undefined
        : observeSecret(secret, object, spec, keyId, row, hashes, clients),
    row,
    fields:
      isConditionReason(spec) || tenant?.tenant === undefined ? undefined : keyFieldsOf(object.metadata, spec, tenant.tenant),
    isPepperKnown: row === undefined || hashes.has(row.token.pepper_version, row.pepper_fingerprint),
    hasPlan,
    stagedAt: isStaged ? staged.at : undefined,
    problem,
    now: clock(),
    propagationMs,
  };
}
