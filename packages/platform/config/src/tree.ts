/** A mapping of keys to values, as parsed from YAML. */
export type Tree = { [key: string]: unknown };

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path; undefined when there is none. */
export function valueAt(tree: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (node, key) => (typeof node === 'object' && node !== null ? Object.getOwnPropertyDescriptor(node, key)?.value : undefined),
    tree,
  );
}

/** Sets a value and creates the mappings on its path. */
export function setAt(tree: Tree, path: readonly string[], value: unknown): void {
  let node = tree;
  for (const key of path.slice(0, -1)) {
    const next = node[key];
    if (isTree(next)) node = next;
    else node = node[key] = {};
  }
  node[path.at(-1) ?? ''] = value;
}

/** A deep merge; values of `override` win. */
export function merged(base: Tree, override: Tree): Tree {
  const both = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(override)) {
    const before = both.get(key);
    both.set(key, isTree(before) && isTree(value) ? merged(before, value) : value);
  }
  // Assigning key by key, a key `__proto__` would set the prototype.
  return Object.fromEntries(both);
}
