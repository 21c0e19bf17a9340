import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Rejection } from '@vitrine/http-api/rejection';
import { tooLarge, uninspectableReason } from './inspectable-body.ts';
import { GUARD_IS_FULL, uninspectable, type RequestGuard } from './request-guard.ts';

/** A body on its way into the guard. */
export interface HeldBody {
  /** Stops reading and releases the memory; may be called several times. */
  readonly release: () => void;
}

const NOTHING: HeldBody = { release: () => {} };

/** Reads a request's body whole, within the guard's bounds, and calls back once: with the body, undefined for none, or with why it cannot be
 *  looked into. Never calls back for a client that left. */
export function readGuarded(
  request: Readable & Pick<IncomingMessage, 'headers'>,
  guard: RequestGuard,
  done: (outcome: { readonly body: Buffer | undefined } | { readonly rejection: Rejection }) => void,
): HeldBody {
  const { headers } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    done({ body: undefined });
    return NOTHING;
  }
  const why = uninspectableReason(headers, guard.maxBytes);
  if (why !== undefined) {
    done({ rejection: uninspectable(why) });
    return NOTHING;
  }
  let chunks: Buffer[] = [];
  let held = 0;
  const release = () => {
    request.off('data', onData).off('end', onEnd);
    guard.give(held);
    held = 0;
    chunks = [];
  };
  const onData = (chunk: Buffer) => {
    const fits = held + chunk.length <= guard.maxBytes;
    if (fits && guard.take(chunk.length)) {
      held += chunk.length;
      chunks.push(chunk);
    } else {
      release();
      done({ rejection: fits ? GUARD_IS_FULL : uninspectable(tooLarge(guard.maxBytes)) });
    }
  };
  const onEnd = () => done({ body: Buffer.concat(chunks) });
  request.on('data', onData).on('end', onEnd);
  return { release };
}
