import { Secret } from '@vitrine/config/secret';
import { pepperShape } from '@vitrine/credentials/pepper';
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
import { SECRET_HEADERS } from '@vitrine/privacy/header-lines';
import { LINEAGE_HEADERS } from '@vitrine/traces/lineage-headers';

/** The default, and the default of `ongoingai/gateway`. */
const KEY_HEADERS: ReadonlySet<string> = new Set(['x-svc-gateway-key', 'x-ongoingai-gateway-key']);

/** Standard HTTP headers that a request needs for their own purpose, or whose repetitions Node drops. A key there would break the request, or its
 *  position in the message would decide which key counts. */
const HTTP_HEADERS = new Set(
  `accept accept-charset accept-encoding accept-language age cache-control connection content-encoding content-length
  content-type date etag expect expires forwarded from host http2-settings if-match if-modified-since if-none-match if-range
  if-unmodified-since keep-alive last-modified location max-forwards origin pragma range referer retry-after server te trailer
  transfer-encoding upgrade user-agent via traceparent tracestate baggage`.split(/\s+/),
);
/** Headers of the gateway that are echoed, logged or stored unchanged. */
const GATEWAY_HEADERS = new Set([
  'x-request-id',
  'x-correlation-id',
  'x-svc-correlation-id',
  ...Object.values(LINEAGE_HEADERS).map((name) => name.toLowerCase()),
]);
const PREFIXES = ['proxy-', 'sec-', 'access-control-', 'x-forwarded-'];

/** Why a header cannot carry gateway keys; undefined when it can. Spec: G9.3. */
export function keyHeaderError(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(lower)) return 'must be a header name of at most 64 characters';
  if (SECRET_HEADERS.has(lower) && !KEY_HEADERS.has(lower)) return 'must not be a header that carries another secret';
  if (HTTP_HEADERS.has(lower) || PREFIXES.some((prefix) => lower.startsWith(prefix)))
    return 'must not be a header of HTTP itself';
  return GATEWAY_HEADERS.has(lower) ? 'must not be a header that the gateway reads for something else' : undefined;
}

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

/** The `auth` part of the configuration; `config-rules.ts` has the rules between its keys.
 *  Spec: G1.6, G8.19, G9.1 to G9.3. */
export const authConfig = z
  .strictObject({
    enabled: z.boolean().default(false),
    header: header.default('X-Svc-Gateway-Key'),
    store: z.enum(['database', 'file']).default('database'),
    keys: z.array(fileKey).max(MAX_FILE_KEYS).default([]),
    /** The first one hashes new tokens, and all are tried for verification. If none is set, one is created beside the database. */
    peppers: z.array(pepperShape).max(MAX_PEPPERS).default([]),
  })
  .prefault({});
export type AuthConfig = z.infer<typeof authConfig>;
