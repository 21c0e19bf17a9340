import { z } from 'zod';

/** A value of the configuration that one environment variable can set. */
export interface Leaf {
  readonly path: readonly string[];
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
}

interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly oneOf?: readonly Node[];
  readonly anyOf?: readonly Node[];
}

/** Every leaf of an object schema, in the schema's order, including those of all variants of a union. Read from its JSON Schema, so that the
 *  variables cannot differ from the schema. */
export function leavesOf(schema: z.ZodType): readonly Leaf[] {
  return walk(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node, []);
}

function walk(node: Node, path: readonly string[]): Leaf[] {
  const variants = node.oneOf ?? node.anyOf;
  if (variants !== undefined) return mergedLeaves(variants.flatMap((variant) => walk(variant, path)));
  if (node.properties !== undefined)
    return Object.entries(node.properties).flatMap(([key, inner]) => walk(inner, [...path, key]));
  const type = node.type;
  // A mapping without properties has user-defined keys and therefore no variables.
  if (type === 'object' || type === 'null') return [];
  const isLeaf = type === 'number' || type === 'integer' || type === 'boolean' || type === 'array';
  return [{ path, type: isLeaf ? type : 'string' }];
}

/** One leaf per path. A value of several types is read as text. */
function mergedLeaves(leaves: readonly Leaf[]): Leaf[] {
  return [...Map.groupBy(leaves, ({ path }) => path.join('.')).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    return others.every(({ type }) => type === first.type) ? [first] : [{ ...first, type: 'string' as const }];
  });
}

/** `SVC_` and `server.port` -> `SVC_SERVER_PORT`. */
export function variableName(prefix: string, path: readonly string[]): string {
  return prefix + path.join('_').toUpperCase();
}
