import { z } from 'zod';
import { uri } from './enumerations.ts';

/** `service` of Health. Spec: S2.33. */
export const SERVICE = 'store-intelligence';

export const health = z
  .object({
    ok: z.boolean(),
    service: z.literal(SERVICE),
    version: z.string(),
    build: z.string().nullable().describe('Null where it was not built as an image.'),
    registry_checksum: z.string().nullable().describe('Changes when detection rules change.'),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof health>;

const authentication = z.object({ scheme: z.literal('bearer'), header: z.string(), keys_url: uri });

/** Spec: S2.35. */
export const apiIndex = z
  .object({
    name: z.string(),
    description: z.string(),
    documentation_url: uri,
    rest: z.object({ base_url: uri, version: z.string(), openapi_url: uri, authentication }),
    graphql: z.object({ url: uri, access: z.string() }),
  })
  .meta({ id: 'ApiIndex' });
export type ApiIndex = z.infer<typeof apiIndex>;

/** Spec: S2.36. */
export const versionIndex = z
  .object({
    version: z.string(),
    documentation_url: uri,
    openapi_url: uri,
    endpoints: z.record(z.string(), z.string()).describe('Operation id to URL; braces mark path parameters.'),
    authentication,
  })
  .meta({ id: 'VersionIndex' });
export type VersionIndex = z.infer<typeof versionIndex>;
