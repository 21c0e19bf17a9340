/** A mapping of keys to values, as YAML gives it. */
export type Tree = { [key: string]: unknown };

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What stands at a path; undefined when there is nothing. */
export function valueAt(tree: Tree, path: readonly string[]): unknown {
  return path.reduce<unknown>((node, key) => (isTree(node) ? node[key] : undefined), tree);
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
  const both: Tree = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = both[key];
    both[key] = isTree(under) && isTree(value) ? merged(under, value) : value;
  }
  return both;
}
