import type { IncomingMessage } from 'node:http';

/** Most of a request's body that is read after its response: files are uploaded to providers in parts of 64 MB. */
const DRAIN_MAX_BYTES = 128 * 1_048_576;
/** A client that sends less than this in such an interval is disconnected: a rejected upload must not hold a connection without limit. */
const SLOW_BYTES = 65_536;
const SLOW_CHECK_MS = 10_000;

/** Reads and discards the rest of a request that was rejected, or responded to early, however it is framed, and destroys the connection when
 *  that is too much or too slow. A client that is cut off while it sends never sees the response (RFC 9112, 9.6), and the SDKs then retry. Must be
 *  called before the response ends, or Node discards the rest without counting it. */
export function drainRequest(
  request: IncomingMessage,
  whenDrained: () => void = () => {},
  slowCheckMs: number = SLOW_CHECK_MS,
): void {
  const { socket } = request;
  if (request.readableEnded || socket.destroyed) return whenDrained();
  let left = DRAIN_MAX_BYTES;
  let sinceCheck = 0;
  const check = setInterval(() => {
    if (sinceCheck < SLOW_BYTES) socket.destroy();
    sinceCheck = 0;
  }, slowCheckMs);
  const stop = () => {
    clearInterval(check);
    socket.off('close', stop);
  };
  socket.once('close', stop);
  request.on('data', ({ length }: Buffer) => {
    sinceCheck += length;
    left -= length;
    if (left < 0) socket.destroy();
  });
  request.once('end', () => {
    stop();
    whenDrained();
  });
}
