import type { Identity } from '@vitrine/gateway-keys/gateway-key';
import type { Permission } from '@vitrine/gateway-keys/permission';
import { operationOf, type Route } from '@vitrine/http-api/route';

/** A route of the admin API. An operation's `identity` is the gateway key's, undefined with authentication off; a caller with one sees the rows of
 *  their tenant only. */
export type AdminRoute = Route<Identity, Permission>;

/** Declares an operation of the admin API. */
export const operation = operationOf<Identity, Permission>();
