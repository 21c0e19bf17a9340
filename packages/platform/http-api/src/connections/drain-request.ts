import type { IncomingMessage } from 'node:http';

/** Maximum bytes of a request's body read after its response. Files are uploaded to providers in parts of 64 MB. */
const DRAIN_MAX_BYTES = 128 * 1_048_576;
/**
 * A client that sends less than this per interval is disconnected, so that a rejected upload cannot keep a connection open indefinitely.
 */
const SLOW_BYTES = 65_536;
const SLOW_CHECK_MS = 10_000;

/** Reads and discards the rest of a request that was rejected or answered early, with any framing, and destroys the connection when the
 *  rest is too large or too slow. A client that is cut off while it sends never sees the response (RFC 9112, 9.6), and the SDKs then
 *  retry. Must be
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
