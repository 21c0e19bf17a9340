import { firstIdOf } from '@vitrine/traces/trace-id';
import { hash } from 'node:crypto';
import type { OldTime } from './old-time.ts';

const NANOSECONDS_PER_MS = 1_000_000;
const NAMESPACE = 'ongoingai/gateway';

/** The id of an imported trace: a UUIDv7 of its `created_at`, like every id here, so that it sorts among the others by time. The 12 bits
 *  after the millisecond are its fraction, which keeps the old order; the rest is a hash of the old id. The same trace always has the
 *  same id, so that a trace is stored once however often it is imported. */
export function newTraceId(oldId: string, { ms, nanoseconds }: OldTime): Uint8Array<ArrayBuffer> {
  const id = firstIdOf(ms);
  const fraction = Math.floor((nanoseconds * 4_096) / NANOSECONDS_PER_MS);
  id[6] = 0x70 | (fraction >>> 8);
  id[7] = fraction;
  id.set(hash('sha256', `${NAMESPACE}:${oldId}`, 'buffer').subarray(0, 8), 8);
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  return id;
}
