import type { Identity } from '@vitrine/gateway-keys/gateway-key';
import type { Permission } from '@vitrine/gateway-keys/permission';
import { DEFAULT_SCOPE, NO_SCOPE, type ExchangeScope } from '@vitrine/traces/exchange-scope';
import type { IncomingHttpHeaders } from 'node:http';
import type { Rejection } from '@vitrine/http-api/rejection';

/** The sender of a request. */
export interface Caller {
  /** Undefined with authentication off, and for anonymous callers. */
  readonly identity: Identity | undefined;
  /** The scope of the caller's traces, one object per key. */
  readonly scope: ExchangeScope;
}

/** A request that authentication rejects, with its caller if the key identified one. */
export interface RejectedCaller {
  readonly caller: Caller;
  readonly rejection: Rejection & { readonly reason: 'unauthorized' | 'forbidden' | 'key_verification_unavailable' };
}

/** Identifies the caller by the key header alone and checks the permission. Synchronous and cheap: it runs for every request. With
 *  `connection`, its last token is cached for as long as it lives. */
export type Authenticate = (headers: IncomingHttpHeaders, permission: Permission, connection?: object) => Caller | RejectedCaller;

/** With authentication off all callers belong to one tenant. */
export const DEFAULT_CALLER: Caller = { identity: undefined, scope: DEFAULT_SCOPE };
/** A caller without an accepted key belongs to no tenant. */
export const ANONYMOUS_CALLER: Caller = { identity: undefined, scope: NO_SCOPE };

// The texts are the specification's. Spec: G9.7.
export const UNAUTHORIZED: RejectedCaller = {
  caller: ANONYMOUS_CALLER,
  rejection: { status: 401, error: 'missing or invalid gateway key', reason: 'unauthorized' },
};
export const UNVERIFIABLE: RejectedCaller = {
  caller: ANONYMOUS_CALLER,
  rejection: { status: 503, error: 'gateway key verification unavailable', reason: 'key_verification_unavailable' },
};
export const forbidden = (caller: Caller): RejectedCaller => ({
  caller,
  rejection: { status: 403, error: 'gateway key does not have required permission', reason: 'forbidden' },
});
