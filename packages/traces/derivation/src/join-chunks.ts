/** All chunks as one buffer; a single chunk is not copied. */
export function joinChunks(chunks: readonly Uint8Array[]): Buffer {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return Buffer.from(only.buffer, only.byteOffset, only.byteLength);
  return Buffer.concat(chunks);
}
