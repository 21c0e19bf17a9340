import { boundedText } from '@vitrine/config/bounded-text';
import { CHOSEN_TOKEN } from '@vitrine/credentials/token';
import { scrub } from '@vitrine/privacy/scrub';
import { z } from 'zod';
import { PERMISSIONS } from './permission.ts';

// The fields of a new key, with the same rules for REST, the command line and the YAML file. An empty text counts as absent; absent
// fields are generated or have a default. Spec: G8.1 to G8.9.

/** Ids and names are visible everywhere, so a token pasted into the wrong field must be rejected. */
const isPlain = (text: string) => scrub(text).count === 0;
const NO_CREDENTIAL = 'must not contain a credential';

const ID_RULE = 'must be at most 128 characters of A-Za-z0-9-_.:';

/** An id of a key, an organisation or a workspace. Every trace contains them, so they are plain and short. Clients resolve `.` and `..` in a path
 *  before sending it, so a key of that name could not be revoked over REST. */
export const idText = z
  .string()
  .regex(/^[A-Za-z0-9\-_.:]{0,128}$/, ID_RULE)
  .refine((id) => id !== '.' && id !== '..', 'must not be . or ..')
  .refine(isPlain, NO_CREDENTIAL)
  .meta({ pattern: '^(?!\\.{1,2}$)[A-Za-z0-9\\-_.:]{0,128}$' });

/** Actors of audit events that are not keys. Events of a key with such an id, in any letter case, would look like theirs. */
const RESERVED_KEY_IDS = ['system', 'operator'];
export const RESERVED_KEY_ID = 'must not be system or operator, in capitals or not: both stand for actions without a key';

export function isReservedKeyId(id: string): boolean {
  return RESERVED_KEY_IDS.includes(id.toLowerCase());
}

export const roleText = z
  .string()
  .regex(/^[A-Za-z0-9\-_.:]{0,64}$/, 'must be at most 64 characters of A-Za-z0-9-_.:')
  .refine(isPlain, NO_CREDENTIAL)
  .transform((role) => role.toLowerCase());

/** Values that every store can store. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0');
const NOT_STORABLE = 'must be well-formed Unicode without U+0000';
export const nameText = boundedText(256).refine(isStorable, NOT_STORABLE).refine(isPlain, NO_CREDENTIAL);
export const descriptionText = boundedText(2_048).refine(isStorable, NOT_STORABLE).refine(isPlain, NO_CREDENTIAL);

export const tokenText = z
  .string()
  .refine((token) => token === '' || CHOSEN_TOKEN.test(token), {
    error: 'must be 24 to 256 visible ASCII characters without spaces and commas',
    // A malformed token must not reach the rules that compare tokens.
    abort: true,
  })
  .meta({ pattern: `^$|${CHOSEN_TOKEN.source}` });

/** Permission strings, lower-cased, each once. */
export const permissionList = z
  .array(
    z
      .string()
      .meta({ enum: [...PERMISSIONS], description: 'In any letter case.' })
      .transform((text) => text.trim().toLowerCase())
      .pipe(z.enum(PERMISSIONS, { error: `unknown permission; known permissions: ${PERMISSIONS.join(', ')}` })),
  )
  .max(64)
  .transform((list) => [...new Set(list)]);
