import type { ConfigFault } from './config-fault.ts';
import type { Leaf } from './leaves.ts';
import { isTree, valueAt, type Tree } from './tree.ts';

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const SUFFIX = '_ms';

/** The form of a duration, for error messages. */
export const DURATION_FORM = 'a number with its unit, such as 250ms, 3s, 2m or 1h';

/** A key for a duration: `proxy.connect_timeout` sets `proxy.connect_timeout_ms`. */
export interface DurationKey {
  readonly path: readonly string[];
  /** The key of milliseconds that it sets. */
  readonly leaf: Leaf;
}

/** `3s` -> 3000. Undefined for anything that is not one number and one unit, or not whole milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  const exact = Number(amount) * (UNITS_MS[unit] ?? 0);
  const whole = Math.round(exact);
  // 4.35 s is 4349.999... ms in binary.
  return Number.isSafeInteger(whole) && Math.abs(exact - whole) < 1e-6 ? whole : undefined;
}

/** One for every integer leaf with the suffix `_ms`; none has to be declared. */
export function durationKeysOf(leaves: readonly Leaf[]): DurationKey[] {
  return leaves.flatMap((leaf) => {
    const name = leaf.path.at(-1) ?? '';
    if (leaf.type !== 'integer' || !name.endsWith(SUFFIX)) return [];
    return [{ path: [...leaf.path.slice(0, -1), name.slice(0, -SUFFIX.length)], leaf }];
  });
}

/** Replaces the durations of a YAML tree by their milliseconds. Returns the keys of these durations by the keys of milliseconds. */
export function readDurations(tree: Tree, durations: readonly DurationKey[], faults: ConfigFault[]): Map<string, string> {
  const writtenAs = new Map<string, string>();
  for (const { path, leaf } of durations) {
    const parent = valueAt(tree, path.slice(0, -1));
    const [name = '', nameMs = ''] = [path.at(-1), leaf.path.at(-1)];
    if (!isTree(parent) || parent[name] === undefined) continue;
    const ms = typeof parent[name] === 'string' ? parseDuration(parent[name]) : undefined;
    const isTwice = parent[nameMs] !== undefined;
    if (isTwice) faults.push({ path: path.join('.'), message: `conflicts with ${nameMs}: set only one of them` });
    else if (ms === undefined) faults.push({ path: path.join('.'), message: `must be ${DURATION_FORM}` });
    else writtenAs.set(leaf.path.join('.'), path.join('.'));
    if (!isTwice && ms !== undefined) parent[nameMs] = ms;
    delete parent[name];
  }
  return writtenAs;
}

/** Adds to the fault of a duration in a key of milliseconds which key takes durations. */
export function suggestDurationKeys(
  faults: readonly ConfigFault[],
  tree: Tree,
  durations: readonly DurationKey[],
  variables: ReadonlyMap<string, string>,
): ConfigFault[] {
  return faults.map((fault) => {
    const key = durations.find(({ leaf }) => leaf.path.join('.') === fault.path);
    const value = key && valueAt(tree, key.leaf.path);
    if (key === undefined || typeof value !== 'string' || parseDuration(value) === undefined) return fault;
    const name = key.path.join('.');
    return { ...fault, message: `must be a number of milliseconds; ${value.trim()} is for ${name} (${variables.get(name)})` };
  });
}
