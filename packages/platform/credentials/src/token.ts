const RANDOM_BYTES = 24;
const MIN_LENGTH = 24;
/** Longer texts are rejected without hashing, because hashing anything that fits into a header would make attacks cheap. */
export const TOKEN_MAX_LENGTH = 256;

/** The form of a token that is not generated: 24 to 256 visible ASCII characters, which any header can carry. Commas are excluded, because
 *  otherwise a repeated header could be read as one token. */
export const CHOSEN_TOKEN: RegExp = new RegExp(`^[\\x21-\\x2b\\x2d-\\x7e]{${MIN_LENGTH},${TOKEN_MAX_LENGTH}}$`);

/** A new token: the prefix and base64url of 24 random bytes. Spec: G8.2. */
export function createToken(prefix: string, random: (bytes: number) => Buffer): string {
  return prefix + random(RANDOM_BYTES).toString('base64url');
}
