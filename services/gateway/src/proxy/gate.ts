import type { Identity } from '@vitrine/gateway-keys/identity';

/** What is answered instead of letting a request through. */
export interface Rejection {
  /** 429 or 503. */
  readonly status: number;
  readonly body: { readonly error: string };
  /** Names and values in turn, such as `Retry-After`. */
  readonly headers: readonly string[];
  /** A code, for the audit trail. */
  readonly reason: string;
}

/** Stands between admission and forwarding, and is asked once for every request whose caller is known: usage limits. Undefined lets it
 *  through; a promise holds it back until it is settled, and has to be bounded by whoever made it. It must not reject. */
export type Gate = (caller: Identity) => Rejection | undefined | Promise<Rejection | undefined>;

/** Lets everything through. */
export const openGate: Gate = () => undefined;
