/** Random choices that are reproducible by a seed. */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  readonly int: (below: number) => number;
  readonly chance: (share: number) => boolean;
  readonly pick: <T>(of: readonly T[]) => T;
  readonly bytes: (length: number) => Buffer;
}

/** The generator of a case: `seed` names the run, `index` the case in it, so that one case can be made again by itself. */
export function randomOf(seed: number, index: number): Random {
  let state = (Math.imul(seed ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(index + 1, 0xc2b2_ae35)) >>> 0;
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    int,
    chance: (share) => next() < share,
    pick: <T>(of: readonly T[]): T => of[int(of.length)] as T,
    bytes: (length) => Buffer.from(Array.from({ length }, () => int(256))),
  };
}
