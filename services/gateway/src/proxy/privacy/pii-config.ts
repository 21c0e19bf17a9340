import { Secret } from '@vitrine/config/secret';
import { PRIVACY_MODES, type PrivacyRules } from '@vitrine/privacy/privacy-rules';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';

const LIST_MAX = 256;
const SCOPES_MAX = 1_024;
const SALT_BYTES = 32;

/** Must not break the JSON, header line or path that contains it, and must not be detected itself. */
const PLACEHOLDER = /^[A-Za-z0-9 _.:;|#*~!<>()[\]-]+$/;
const FIELD_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 _.-]{0,62}[A-Za-z0-9])?$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

const mode = z.enum(PRIVACY_MODES);
const policyId = z.string().min(1).max(128);
const id = z.string().min(1).max(128);

const match = z
  .strictObject({
    org_id: id.optional(),
    workspace_id: id.optional(),
    key_id: id.optional(),
    provider: z.enum(['openai', 'anthropic']).optional(),
    route_prefix: z.string().max(1_024).startsWith('/', 'must start with /').optional(),
  })
  .refine((fields) => Object.keys(fields).length > 0, 'must name org_id, workspace_id, key_id, provider or route_prefix');

/** An empty text equals a missing key, because files of `ongoingai/gateway` contain such. */
const orEmpty = <S extends z.ZodType>(value: S) =>
  z.preprocess((given) => (given === '' ? undefined : given), value.optional()).optional();

const scope = z
  .strictObject({ match, mode: mode.optional(), policy_id: policyId.optional() })
  .refine((one) => one.mode !== undefined || one.policy_id !== undefined, 'must set mode or policy_id');

/** Which data is hidden or refused, and where. Spec: G13.6, G13.7. */
export const piiConfig = z
  .strictObject({
    /** Without a value: `redact_storage` when bodies are captured, else `off`. */
    mode: orEmpty(mode),
    policy_id: policyId.default('default/v1'),
    detectors: z
      .strictObject({
        email: z.boolean().default(true),
        phone: z.boolean().default(true),
        ssn: z.boolean().default(true),
        token_like: z.boolean().default(true),
      })
      .prefault({}),
    headers: z
      .strictObject({
        /** In addition to the headers that are always hidden. */
        denylist: z
          .array(z.string().regex(HEADER_NAME, 'must be a header name'))
          .max(LIST_MAX)
          .default(['authorization', 'cookie', 'set-cookie', 'x-api-key', 'x-svc-gateway-key']),
      })
      .prefault({}),
    body: z
      .strictObject({
        key_denylist: z
          .array(z.string().regex(FIELD_NAME, 'must be a name of letters, digits, dots, dashes, underscores and spaces'))
          .max(LIST_MAX)
          .default(['email', 'phone', 'password', 'token', 'secret', 'ssn', 'api_key', 'authorization']),
      })
      .prefault({}),
    replacement: z
      .strictObject({
        /** `{type}` and `{hash}` are filled in. */
        format: z
          .string()
          .max(128)
          .refine(
            (format) => PLACEHOLDER.test(format.replace(/\{(?:type|hash)\}/g, '')),
            'must be text without quotes, @ and control characters; {type} and {hash} are filled in',
          )
          .default('[{type}_REDACTED:{hash}]'),
        hash_salt: orEmpty(
          z
            .string()
            .max(1_024)
            .transform((text) => new Secret(text)),
        ),
      })
      .prefault({}),
    scopes: z.array(scope).max(SCOPES_MAX).default([]),
  })
  .prefault({});

/** The rules of a configuration. If no salt is set, a random one is used for this process, because unsalted hashes could be reversed by trying
 *  every phone number. */
export function privacyRules(pii: z.infer<typeof piiConfig>, captureBodies: boolean): PrivacyRules {
  return {
    mode: pii.mode ?? (captureBodies ? 'redact_storage' : 'off'),
    policyId: pii.policy_id,
    detectors: pii.detectors,
    deniedHeaders: pii.headers.denylist.map((name) => name.toLowerCase()),
    deniedFields: pii.body.key_denylist,
    format: pii.replacement.format,
    salt: pii.replacement.hash_salt?.reveal() ?? randomBytes(SALT_BYTES).toString('hex'),
    scopes: pii.scopes,
  };
}
