import { z } from 'zod';
import { fieldSchemas } from './field-schemas.ts';
import { BODY_FIELDS, LINEAGE_FIELDS, RECORDED_FIELDS, SCOPE_FIELDS } from './trace-fields.ts';
import { BACKGROUND_ROLES } from './trace-values.ts';

/** A trace as stores write it: the fields of the summary under their own names, times as milliseconds since the epoch, headers
 *  as redacted lines (see `header-lines.ts`), metadata as JSON text. A field that is not named here belongs to the next version and is
 *  ignored. */
export const traceRecord = z.object({
  ...fieldSchemas(RECORDED_FIELDS, 'recorded'),
  scope: z.object(fieldSchemas(SCOPE_FIELDS, 'recorded')),
  lineage: z.object(fieldSchemas(LINEAGE_FIELDS, 'recorded')),
  ...fieldSchemas(BODY_FIELDS, 'recorded'),
  background: z.object({ role: z.enum(BACKGROUND_ROLES), response: z.string().regex(/^[0-9a-f]{64}$/) }).optional(),
});
export type TraceRecord = Readonly<z.output<typeof traceRecord>>;
/** A record that is written out: a field that is left out, also an optional one, does not compile. */
export type WholeTraceRecord = { readonly [Field in keyof Required<TraceRecord>]: TraceRecord[Field] };
