import { z } from 'zod';
import type { Secret } from './secret.ts';
import { isTree } from './tree.ts';

/** A value with any parts missing. A secret is either complete or missing. */
export type DeepPartial<T> = T extends Secret
  ? T
  : T extends readonly (infer Item)[]
    ? readonly (DeepPartial<Item> | undefined)[]
    : T extends object
      ? { readonly [Key in keyof T]?: DeepPartial<T[Key]> | undefined }
      : T;

/** The valid parts of an input that its schema rejects, so that rules between parts can be checked although another part is invalid.
 *  Items of lists keep their places, and a record keeps its names. */
export function partialValue<S extends z.ZodType>(schema: S, input: unknown): DeepPartial<z.output<S>> | undefined {
  return read(schema, input) as DeepPartial<z.output<S>> | undefined;
}

function read(schema: z.core.$ZodType, input: unknown): unknown {
  if (schema instanceof z.ZodPrefault) return read(schema.def.innerType, input === undefined ? schema.def.defaultValue : input);
  if (schema instanceof z.ZodDefault) return input === undefined ? schema.def.defaultValue : read(schema.def.innerType, input);
  if (schema instanceof z.ZodOptional) return input === undefined ? undefined : read(schema.def.innerType, input);
  if (schema instanceof z.ZodDiscriminatedUnion && isTree(input)) {
    const { discriminator, options } = schema.def;
    const value = input[discriminator] as z.core.util.Primitive;
    const variant = options.find(({ _zod }) => _zod.propValues?.[discriminator]?.has(value));
    return variant && read(variant, input);
  }
  if (schema instanceof z.ZodObject && isTree(input))
    return mapped(Object.keys(schema.shape), (key) => read(schema.shape[key] as z.ZodType, input[key]));
  if (schema instanceof z.ZodRecord && isTree(input))
    // zod rejects this name.
    return mapped(
      Object.keys(input).filter((key) => key !== '__proto__'),
      (key) => read(schema.valueType, input[key]),
    );
  if (schema instanceof z.ZodArray && Array.isArray(input)) return input.map((item) => read(schema.element, item));
  const parsed = z.safeParse(schema, input);
  return parsed.success ? parsed.data : undefined;
}

function mapped(keys: readonly string[], valueOf: (key: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, valueOf(key)]));
}
