import { z } from 'zod';

/** A value of the configuration that one environment variable can set. */
export interface Leaf {
  readonly path: readonly string[];
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
}

interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
}

/** Making a JSON Schema of the gateway's takes 2 ms, and schemas do not change. */
const known = new WeakMap<z.ZodType, readonly Leaf[]>();

/** Every leaf of an object schema, in the schema's order. Read off its JSON Schema, so that it cannot drift from it. */
export function leavesOf(schema: z.ZodType): readonly Leaf[] {
  const leaves = known.get(schema) ?? walk(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node, []);
  known.set(schema, leaves);
  return leaves;
}

function walk(node: Node, path: readonly string[]): Leaf[] {
  if (node.properties !== undefined)
    return Object.entries(node.properties).flatMap(([key, inner]) => walk(inner, [...path, key]));
  const type = node.type;
  // A mapping whose keys are the user's own has no variables.
  if (type === 'object') return [];
  const isLeaf = type === 'number' || type === 'integer' || type === 'boolean' || type === 'array';
  return [{ path, type: isLeaf ? type : 'string' }];
}

/** `SVC_` and `server.port` -> `SVC_SERVER_PORT`. */
export function variableName(prefix: string, path: readonly string[]): string {
  return prefix + path.join('_').toUpperCase();
}
