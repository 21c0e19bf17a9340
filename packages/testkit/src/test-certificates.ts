import { fileURLToPath } from 'node:url';

const pem = (name: string) => fileURLToPath(new URL(`../testdata/${name}.pem`, import.meta.url));

/** PEM files for servers and clients of tests, valid until 2126. They are files because creating them needs openssl, which a machine with only
 *  Node lacks. The keys of the authorities were deleted, so that nothing else can be signed by them. */
export const TEST_CERTIFICATES = {
  ca: pem('ca'),
  /** An authority that has signed none of these. */
  otherCa: pem('other-ca'),
  /** Signed by `ca`, for the name `localhost` and no address. */
  server: pem('server'),
  serverKey: pem('server-key'),
  /** Signed by `ca`, for a client. */
  client: pem('client'),
  clientKey: pem('client-key'),
} as const;
