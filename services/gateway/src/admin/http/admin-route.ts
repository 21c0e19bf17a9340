import type { Identity } from '@vitrine/gateway-keys/gateway-key';
import type { Permission } from '@vitrine/gateway-keys/permission';
import { operationOf, type Route } from '@vitrine/http-api/route';

/** A route of the admin API. `identity` is that of the gateway key, undefined with authentication off. A caller with an identity sees only the
 *  rows of its tenant. */
export type AdminRoute = Route<Identity, Permission>;

/** Declares an operation of the admin API. */
export const operation = operationOf<Identity, Permission>();
