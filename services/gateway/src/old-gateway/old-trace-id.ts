import { firstIdOf } from '@vitrine/traces/trace-id';
import { hash } from 'node:crypto';
import type { OldTime } from './old-time.ts';

const NANOSECONDS_PER_MS = 1_000_000;
const NAMESPACE = 'ongoingai/gateway';

/** The id of a trace that comes from `ongoingai/gateway`: a UUIDv7 of its `created_at`, like every id here, so that it stands among the
 *  others where it belongs. The 12 bits behind the millisecond are its parts, which keeps the old order; the rest is a hash of the old
 *  id. So the same trace always gets the same id, and however often it is brought over, it is there once: stores depend on it. */
export function newTraceId(oldId: string, { ms, nanoseconds }: OldTime): Uint8Array<ArrayBuffer> {
  const id = firstIdOf(ms);
  const part = Math.floor((nanoseconds * 4_096) / NANOSECONDS_PER_MS);
  id[6] = 0x70 | (part >>> 8);
  id[7] = part;
  id.set(hash('sha256', `${NAMESPACE}:${oldId}`, 'buffer').subarray(0, 8), 8);
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  return id;
}
