import { createHmac, type KeyObject } from 'node:crypto';

/** Identifies a pepper by version and fingerprint. */
export interface PepperIdentity {
  readonly pepper_version: number;
  /** 16 hexadecimal digits. */
  readonly pepper_fingerprint: string;
}

/** No token contains a space, so a fingerprint is no token's hash. */
const LABEL = 'fingerprint of a pepper';
const FINGERPRINT_LENGTH = 16;

/** Differs between peppers, and reveals neither the pepper nor whether a token is valid. */
export function pepperFingerprint(pepper: KeyObject): string {
  return createHmac('sha256', pepper).update(LABEL).digest('hex').slice(0, FINGERPRINT_LENGTH);
}
