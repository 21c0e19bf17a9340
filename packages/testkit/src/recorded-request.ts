import type { IncomingMessage } from 'node:http';
import type { ReceivedRequest } from './mock-provider.ts';

/** How much of a body is kept, in bytes. */
const KEPT_BYTES = 1024 * 1024;

/** A ReceivedRequest that is still being received. */
export interface RecordedRequest extends ReceivedRequest {
  aborted: boolean;
  /** The length of the body so far, including parts that are not kept. */
  readonly length: number;
  readonly add: (chunk: Buffer) => void;
}

export function recordRequest(request: IncomingMessage): RecordedRequest {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let length = 0;
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    rawHeaders: request.rawHeaders,
    aborted: false,
    get length() {
      return length;
    },
    get body() {
      if (kept.length !== 1) kept = [Buffer.concat(kept)];
      return kept[0] ?? Buffer.alloc(0);
    },
    add(chunk) {
      length += chunk.length;
      const room = KEPT_BYTES - keptBytes;
      if (room <= 0) return;
      // A copy: a slice would keep the whole read buffer of the socket alive.
      const part = Buffer.from(chunk.subarray(0, room));
      kept.push(part);
      keptBytes += part.length;
    },
  };
}
