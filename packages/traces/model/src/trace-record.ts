import { z } from 'zod';
import { fieldSchemas } from './field-schemas.ts';
import { BODY_FIELDS, LINEAGE_FIELDS, RECORDED_FIELDS, SCOPE_FIELDS, SERVED_FIELDS } from './trace-fields.ts';
import { BACKGROUND_ROLES, BATCH_FILES_MAX } from './trace-values.ts';

/** See `background-response.ts`. */
const reference = z.string().regex(/^[0-9a-f]{64}$/);

/** A trace as stores write it: the fields of the summary under their own names, times as milliseconds since the epoch, headers
 *  as redacted lines (see `header-lines.ts`), metadata as JSON text. A field that is not named here belongs to the next version and is
 *  ignored. */
export const traceRecord = z.object({
  ...fieldSchemas(RECORDED_FIELDS, 'recorded'),
  ...fieldSchemas(SERVED_FIELDS, 'recorded'),
  scope: z.object(fieldSchemas(SCOPE_FIELDS, 'recorded')),
  lineage: z.object(fieldSchemas(LINEAGE_FIELDS, 'recorded')),
  ...fieldSchemas(BODY_FIELDS, 'recorded'),
  background: z.object({ role: z.enum(BACKGROUND_ROLES), response: reference }).optional(),
  batch_files: z
    .array(z.object({ batch: reference, file: reference }))
    .max(BATCH_FILES_MAX)
    .optional(),
  /** Tokens at the most, for quotas; absent when they are `total_tokens`. */
  upper_tokens: z.int().min(0).optional(),
});
export type TraceRecord = Readonly<z.output<typeof traceRecord>>;
/** A record that is written out: a field that is left out, also an optional one, does not compile. */
export type WholeTraceRecord = { readonly [Field in keyof Required<TraceRecord>]: TraceRecord[Field] };
