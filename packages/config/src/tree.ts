/** A mapping of keys to values, as YAML gives it. */
export type Tree = { [key: string]: unknown };

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What stands at a path; undefined when there is nothing. */
export function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (node, key) => (typeof node === 'object' && node !== null ? Object.getOwnPropertyDescriptor(node, key)?.value : undefined),
    tree,
  );
}

/** Sets a value, and makes the mappings on the way to it. */
export function setAt(tree: Tree, path: readonly string[], value: unknown): void {
  let node = tree;
  for (const key of path.slice(0, -1)) {
    const next = node[key];
    if (isTree(next)) node = next;
    else node = node[key] = {};
  }
  node[path.at(-1) ?? ''] = value;
}

/** Both, where `above` has the say. */
export function merged(below: Tree, above: Tree): Tree {
  const both = new Map(Object.entries(below));
  for (const [key, value] of Object.entries(above)) {
    const under = both.get(key);
    both.set(key, isTree(under) && isTree(value) ? merged(under, value) : value);
  }
  // Assigned one by one, a key `__proto__` would set what nobody named.
  return Object.fromEntries(both);
}
