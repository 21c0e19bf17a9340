import { Secret } from '@vitrine/config/secret';
import { pepperShape } from '@vitrine/credentials/pepper-shape';
import {
  descriptionText,
  idText,
  isReservedKeyId,
  nameText,
  permissionList,
  RESERVED_KEY_ID,
  roleText,
  tokenText,
} from '@vitrine/gateway-keys/key-fields';
import { DEFAULT_ROLE } from '@vitrine/gateway-keys/role';
import { z } from 'zod';
import { keyHeaderError } from './key-header.ts';

const MAX_FILE_KEYS = 1_000;
const MAX_PEPPERS = 8;

const given = 'must not be empty';

/** A key of the YAML file. Its plan is one of `plans`. Spec: G8.19. */
const fileKey = z.strictObject({
  id: idText.min(1, given).refine((id) => !isReservedKeyId(id), RESERVED_KEY_ID),
  token: tokenText.min(1, given).transform((token) => new Secret(token)),
  org_id: idText.min(1, given).default('default'),
  workspace_id: idText.min(1, given).default('default'),
  name: nameText.optional(),
  description: descriptionText.optional(),
  role: roleText.default(DEFAULT_ROLE),
  permissions: permissionList.default([]),
  plan: idText.min(1, given).optional(),
});
export type FileKey = z.infer<typeof fileKey>;

const header = z.string().superRefine((name, context) => {
  const reason = keyHeaderError(name);
  if (reason !== undefined) context.addIssue({ code: 'custom', message: reason });
});

/** The `auth` part of the configuration; `config-rules.ts` has what its keys have to do with each other.
 *  Spec: G1.6, G8.19, G9.1 to G9.3. */
export const authConfig = z
  .strictObject({
    enabled: z.boolean().default(false),
    header: header.default('X-Svc-Gateway-Key'),
    store: z.enum(['database', 'file']).default('database'),
    keys: z.array(fileKey).max(MAX_FILE_KEYS).default([]),
    /** The first hashes new tokens, all are tried; without any, one is made beside the database. */
    peppers: z.array(pepperShape).max(MAX_PEPPERS).default([]),
  })
  .prefault({});
export type AuthConfig = z.infer<typeof authConfig>;
