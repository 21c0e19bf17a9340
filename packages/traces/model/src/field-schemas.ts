import { z } from 'zod';
import type { FieldKind, TraceField } from './trace-fields.ts';

/** The id of a trace, which is also a checkpoint. */
export const traceId = z.string().regex(/^[0-9a-f]{32}$/);
/** SHA-256 of a provider's credential, in hex. */
export const credentialHash = z.string().regex(/^[0-9a-f]{64}$/);

const hexBytes = (hex: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(hex, 'hex'));

/** The schemas of a value: in a record, which is decoded as another version encoded it, and in a response. */
const KINDS = {
  id: { recorded: traceId.transform(hexBytes), shown: traceId },
  time: { recorded: z.number(), shown: z.iso.datetime() },
  text: { recorded: z.string(), shown: z.string() },
  count: { recorded: z.number(), shown: z.int().min(0) },
  status: { recorded: z.number(), shown: z.int().min(100).max(599) },
  hash: { recorded: credentialHash.transform(hexBytes), shown: credentialHash },
  usd: { recorded: z.number(), shown: z.number().min(0) },
  boolean: { recorded: z.boolean(), shown: z.boolean() },
} satisfies Record<FieldKind, unknown>;

type Form = 'recorded' | 'shown';
type Value<Field extends TraceField, As extends Form> = Field extends { readonly values: readonly (infer Name)[] }
  ? Name
  : z.output<(typeof KINDS)[Field['kind']][As]>;
type Schema<Field extends TraceField, As extends Form> = Field extends { readonly optional: true }
  ? z.ZodOptional<z.ZodType<Value<Field, As>>>
  : z.ZodType<Value<Field, As>>;

type Fields = Readonly<Record<string, TraceField>>;
type Shape<Of extends Fields, As extends Form> = { readonly [Name in keyof Of]: Schema<Of[Name], As> };

/** A value in a record. */
export type Recorded<Kind extends FieldKind> = z.output<(typeof KINDS)[Kind]['recorded']>;

/** The shape of an object with these fields. */
export function fieldSchemas<Of extends Fields, As extends Form>(fields: Of, as: As): Shape<Of, As> {
  const schemas = Object.entries<TraceField>(fields).map(([name, { kind, values, optional, about }]) => {
    const value: z.ZodType = values === undefined ? KINDS[kind][as] : z.enum(values);
    const schema = optional === true ? value.optional() : value;
    return [name, about === undefined ? schema : schema.describe(about)];
  });
  return Object.fromEntries(schemas) as Shape<Of, As>;
}
