import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Rejection } from '../rejection.ts';
import { BodyChunks } from './body-chunks.ts';

/** Which bodies can be read for a check, and how others are rejected. */
export interface HeldBodyRules {
  readonly maxBytes: number;
  /** Why a body cannot be read, judged by its headers; undefined when it can. */
  unreadable(headers: IncomingHttpHeaders): Rejection | undefined;
  /** A body that is longer than `maxBytes`. */
  readonly tooLarge: Rejection;
  /** Too many bodies are held. */
  readonly full: Rejection;
}

/** The memory of all held bodies. */
interface Budget {
  /** Reserves this many bytes, if available; released with `give`. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** A body on its way into memory. */
export interface HeldBody {
  /** Stops reading and releases the memory; may be called several times. */
  readonly release: () => void;
}

const NOTHING: HeldBody = { release: () => {} };

/** Reads a request's whole body within the bounds and calls back once: with the body, with undefined if there is none, or with the rejection of a
 *  body that cannot be read. Never calls back for a client that left. */
export function holdBody(
  request: Readable & Pick<IncomingMessage, 'headers'>,
  rules: HeldBodyRules,
  budget: Budget,
  done: (outcome: { readonly body: Buffer | undefined } | { readonly rejection: Rejection }) => void,
): HeldBody {
  const { headers } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    done({ body: undefined });
    return NOTHING;
  }
  const rejection = rules.unreadable(headers);
  if (rejection !== undefined) {
    done({ rejection });
    return NOTHING;
  }
  let chunks = new BodyChunks();
  let held = 0;
  const release = () => {
    request.off('data', onData).off('end', onEnd);
    budget.give(held);
    held = 0;
    chunks = new BodyChunks();
  };
  const onData = (chunk: Buffer) => {
    const fits = held + chunk.length <= rules.maxBytes;
    if (fits && budget.take(chunk.length)) {
      held += chunk.length;
      chunks.push(chunk);
    } else {
      release();
      done({ rejection: fits ? rules.full : rules.tooLarge });
    }
  };
  const onEnd = () => done({ body: chunks.joined() });
  request.on('data', onData).on('end', onEnd);
  return { release };
}
