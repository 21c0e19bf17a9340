import type { TimeRange } from './time-range.ts';

/** The ids by which the traces of a conversation are found. */
export const LINEAGE_IDS = ['trace_group_id', 'thread_id', 'run_id'] as const;
/** Some of them. */
export type LineageIds = { readonly [Id in (typeof LINEAGE_IDS)[number]]?: string | undefined };

/** Parts that a segment's entries are divided into by their hash, so that a search reads one of them: a kilobyte where every trace
 *  has one id. The file depends on it, and on `hashOf`. */
export const BUCKETS = 1_024;
/** Numbers of an entry: the hash of an id, and the `created_at` of a trace that has it. */
export const ENTRY_NUMBERS = 2;

/** Appends the entries of a trace. */
export function addEntries(entries: number[], { trace_group_id, thread_id, run_id }: LineageIds, createdAt: number): void {
  if (trace_group_id !== undefined) entries.push(hashOf(0, trace_group_id), createdAt);
  if (thread_id !== undefined) entries.push(hashOf(1, thread_id), createdAt);
  if (run_id !== undefined) entries.push(hashOf(2, run_id), createdAt);
}

/** The hashes of what is sought. */
export function hashesOf(filter: LineageIds): number[] {
  return LINEAGE_IDS.flatMap((id, kind) => {
    const value = filter[id];
    return value === undefined ? [] : [hashOf(kind, value)];
  });
}

/** When traces with a hash were made. */
export function timesWith(hash: number, entries: Iterable<Float64Array>): Set<number> {
  const times = new Set<number>();
  for (const some of entries) {
    for (let at = 0; at < some.length; at += ENTRY_NUMBERS) if (some[at] === hash) times.add(some[at + 1] ?? 0);
  }
  return times;
}

/** When the first and the last of the traces were made. */
export function spanningRange(entries: Iterable<Float64Array>): TimeRange {
  let [oldest, newest] = [Number.MAX_SAFE_INTEGER, 0];
  for (const some of entries) {
    for (let at = 1; at < some.length; at += ENTRY_NUMBERS) {
      const createdAt = some[at] ?? 0;
      if (createdAt < oldest) oldest = createdAt;
      if (createdAt > newest) newest = createdAt;
    }
  }
  return { oldest, newest };
}

/** Where in the table a segment keeps the entries of a hash. */
export function placeOf(segment: number, hash: number): number {
  return segment * BUCKETS + (hash % BUCKETS);
}

/** Stands for an id of a kind: 53 bits. Whoever finds a trace by it looks at the id itself, so that ids may share a hash.
 *  Two hashes of 32 bits, each stirred with the other, as in MurmurHash3. */
function hashOf(kind: number, id: string): number {
  let one = 0xdeadbeef ^ kind;
  let two = 0x41c6ce57 ^ kind;
  for (let at = 0; at < id.length; at += 1) {
    const code = id.charCodeAt(at);
    one = Math.imul(one ^ code, 0x9e3779b1);
    two = Math.imul(two ^ code, 0x5f356495);
  }
  const low = stirred(one) ^ stirred(two ^ one);
  const high = stirred(two) ^ stirred(one + two);
  return (high & 0x1f_ffff) * 2 ** 32 + (low >>> 0);
}

function stirred(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}
