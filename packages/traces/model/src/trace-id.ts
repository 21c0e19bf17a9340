/** A trace's id as text. */
export const TRACE_ID = /^[0-9a-f]{32}$/;

/** Creates trace ids: UUIDv7 as 16 bytes. The 48-bit time is exactly the trace's `created_at`, and ids of one millisecond count
 *  up, so that the order of ids is the order of (`created_at`, `id`): no store needs a second key to page by.
 *  `randomBytes` returns that many random bytes; 4,096 ids a millisecond keep their order, more only stay unique. */
export function createTraceIds(randomBytes: (count: number) => Uint8Array): (createdAtMs: number) => Uint8Array<ArrayBuffer> {
  let lastMs = -1;
  let counter = 0;
  return (createdAtMs) => {
    counter = createdAtMs === lastMs ? counter + 1 : 0;
    lastMs = createdAtMs;
    const id = firstIdOf(createdAtMs);
    id[6] = 0x70 | ((counter >>> 8) & 0x0f);
    id[7] = counter;
    id.set(randomBytes(8), 8);
    id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
    return id;
  };
}

/** The `created_at` in a trace id, in milliseconds since the epoch. */
export function createdAtOf(id: Uint8Array): number {
  const view = new DataView(id.buffer, id.byteOffset, id.byteLength);
  return view.getUint32(0) * 0x1_0000 + view.getUint16(4);
}

/** The smallest possible id of a millisecond: a bound for queries by time. */
export function firstIdOf(createdAtMs: number): Uint8Array<ArrayBuffer> {
  const id = new Uint8Array(16);
  const view = new DataView(id.buffer);
  const bounded = Math.min(Math.max(0, createdAtMs), 2 ** 48 - 1);
  view.setUint32(0, Math.floor(bounded / 0x1_0000));
  view.setUint16(4, bounded % 0x1_0000);
  return id;
}
