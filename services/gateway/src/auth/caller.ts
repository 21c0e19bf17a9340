import type { Identity } from '@vitrine/gateway-keys/identity';
import type { Permission } from '@vitrine/gateway-keys/permission';
import { DEFAULT_SCOPE, NO_SCOPE } from '@vitrine/traces/exchange-scope';
import type { IncomingHttpHeaders } from 'node:http';

/** Who sends a request. */
export interface Caller {
  /** Undefined with authentication off, and of somebody unknown. */
  readonly identity: Identity | undefined;
  /** As traces carry it, made once a key. */
  readonly scope: string;
}

/** A caller that is turned away. */
export interface CallerRejection {
  readonly status: 401 | 403 | 503;
  readonly error: string;
  readonly reason: 'unauthorized' | 'forbidden' | 'key_verification_unavailable';
  /** Who it was, as far as the key told. */
  readonly caller: Caller;
}

/** Decides by the key header alone who calls and whether they may. Synchronous and cheap: it runs for every request. With `connection`,
 *  what it showed before is remembered for as long as it lives. */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  permission: Permission,
  connection?: object,
) => Caller | CallerRejection;

/** With authentication off everybody is the one tenant. */
export const DEFAULT_CALLER: Caller = { identity: undefined, scope: DEFAULT_SCOPE };
/** Somebody without an accepted key belongs to no tenant. */
export const ANONYMOUS_CALLER: Caller = { identity: undefined, scope: NO_SCOPE };

// The texts are the specification's. Spec: gateway decisions, section 2.
export const UNAUTHORIZED: CallerRejection = {
  status: 401,
  error: 'missing or invalid gateway key',
  reason: 'unauthorized',
  caller: ANONYMOUS_CALLER,
};
export const UNVERIFIABLE: CallerRejection = {
  status: 503,
  error: 'gateway key verification unavailable',
  reason: 'key_verification_unavailable',
  caller: ANONYMOUS_CALLER,
};
export const forbidden = (caller: Caller): CallerRejection => ({
  status: 403,
  error: 'gateway key does not have required permission',
  reason: 'forbidden',
  caller,
});
