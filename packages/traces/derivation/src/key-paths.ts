import { invariant } from '@vitrine/faults/invariant';

/** A place in JSON that a `JsonScanner` visits: a wanted value, or an object or array on the way to one. */
export interface PathNode {
  readonly path: string;
  /** Whether the value here is kept. */
  readonly isWanted: boolean;
  /** The places below it, if it is an object. */
  readonly keys: ReadonlyMap<string, PathNode>;
  /** The place of each of its elements, if it is an array. */
  readonly each: PathNode | undefined;
}

interface GrowingNode extends PathNode {
  isWanted: boolean;
  readonly keys: Map<string, GrowingNode>;
  each: GrowingNode | undefined;
}

/** Paths at which a `JsonScanner` picks values: keys joined by dots; `output[].type` is the type of each element of `output`. The elements of
 *  `data[]` are only counted. No path is the beginning of another. */
export class KeyPaths {
  readonly root: PathNode;
  /** The maximum length of a wanted key with every character escaped. */
  readonly maxKeyBytes: number;

  constructor(paths: readonly string[]) {
    const root = emptyNode('');
    const keys = paths.map((path) => path.split('.'));
    for (const steps of keys) {
      const node = steps.reduce(nodeBelow, root);
      invariant(!node.isWanted && node.keys.size === 0, 'no path leads to another');
      node.isWanted = !node.path.endsWith('[]');
    }
    this.root = root;
    this.maxKeyBytes = 6 * Math.max(0, ...keys.flat().map((key) => key.length));
  }
}

function emptyNode(path: string): GrowingNode {
  return { path, isWanted: false, keys: new Map(), each: undefined };
}

function nodeBelow(node: GrowingNode, step: string): GrowingNode {
  const [key = '', brackets] = step.split('[');
  const path = node.path === '' ? key : `${node.path}.${key}`;
  invariant(!node.isWanted, 'no path leads to another');
  const below = node.keys.get(key) ?? emptyNode(path);
  node.keys.set(key, below);
  return brackets === undefined ? below : (below.each ??= emptyNode(`${path}[]`));
}

/** The key written from `from` to `to`, with or without escapes; undefined for a key in no path. */
export function keyIn(bytes: Uint8Array, from: number, to: number): string | undefined {
  const text = textOf(bytes, from, to);
  const key = text.includes('\\') ? parsed(`"${text}"`) : text;
  return typeof key === 'string' ? key : undefined;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function textOf(bytes: Uint8Array, from: number, to: number): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('utf8', from, to);
}
