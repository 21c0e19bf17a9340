const BLOCK_BYTES = 64 * 1024;
const DEFAULT_SEED = 0x5eed;

/** `count` bytes that look random and are the same for the same seed, in blocks of at most 64 KiB (xorshift32). */
export function* pseudoRandomBlocks(count: number, seed: number = DEFAULT_SEED): Generator<Buffer> {
  let state = seed | 0 || 1; // 0 is the one state that xorshift never leaves
  for (let left = count; left > 0; left -= BLOCK_BYTES) {
    const words = new Int32Array(BLOCK_BYTES / 4);
    for (let index = 0; index < words.length; index++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      words[index] = state;
    }
    yield Buffer.from(words.buffer, 0, Math.min(left, BLOCK_BYTES));
  }
}

/** The same bytes in one buffer: the body of the scenario `bytes=N`. */
export function pseudoRandomBytes(count: number, seed: number = DEFAULT_SEED): Buffer {
  return Buffer.concat([...pseudoRandomBlocks(count, seed)]);
}
