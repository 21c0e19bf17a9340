import { Secret } from '@vitrine/config/secret';
import { z } from 'zod';

/** The key of keyed hashes. Its version is stored with every hash, so that peppers can be rotated. */
export interface Pepper {
  readonly version: number;
  readonly secret: Secret;
}

const MIN_SECRET_LENGTH = 32;
/** The largest value of an integer column. */
const MAX_VERSION = 2_147_483_647;
const FORM = new RegExp(`^(\\d{1,10}):([\\x21-\\x2b\\x2d-\\x7e]{${MIN_SECRET_LENGTH},256})$`);

/** The rule of `readPepper`, for messages. */
export const PEPPER_FORM = `must be VERSION:SECRET, a number up to ${MAX_VERSION} and at least ${MIN_SECRET_LENGTH} visible characters without a comma`;

/** Reads `VERSION:SECRET`, a form that is valid in YAML, an environment variable and a file. */
export function readPepper(text: string): Pepper | undefined {
  const [, version, secret] = FORM.exec(text) ?? [];
  if (secret === undefined || Number(version) > MAX_VERSION) return undefined;
  return { version: Number(version), secret: new Secret(secret) };
}

/** A pepper in a service's configuration. */
export const pepperShape = z.string().transform((text, context) => {
  const read = readPepper(text);
  if (read !== undefined) return read;
  context.addIssue({ code: 'custom', message: PEPPER_FORM });
  return z.NEVER;
});

/** A new pepper, in that form. Its version is the second of its creation: the replacement of a lost pepper has another version, and is
 *  never mistaken for the lost one. */
export function createPepperText(random: (bytes: number) => Buffer, nowMs: number): string {
  return `${Math.floor(nowMs / 1_000)}:${random(32).toString('base64url')}`;
}
