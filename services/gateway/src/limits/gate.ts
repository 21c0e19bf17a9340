import type { Identity } from '@vitrine/gateway-keys/identity';
import type { Rejection } from '@vitrine/http-api/rejection';

/** Applies usage limits between authentication and forwarding, once per request of a known caller. Undefined lets the request through;
 *  a promise holds it back, must resolve within a bound, and must not reject. */
export type Gate = (caller: Identity) => Rejection | undefined | Promise<Rejection | undefined>;

/** Lets every request through. */
export const allowAll: Gate = () => undefined;
