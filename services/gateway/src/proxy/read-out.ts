import type { IncomingMessage } from 'node:http';

/** What an answered request still sends is read up to this length: files for the providers are uploaded in parts of 64 MB. */
const READ_OUT_MAX_BYTES = 128 * 1_048_576;

/** Reads and drops what a request still sends that was refused, or answered early, however it is framed, and breaks the connection when
 *  that is too much; how long it may take is the server's bound on a whole request. A client that is cut while it sends never sees why
 *  (RFC 9112, 9.6), and the SDKs try again then. To be called before the answer ends, or node drops what comes without counting it. */
export function readOut(request: IncomingMessage, whenRead: () => void = () => {}): void {
  let left = READ_OUT_MAX_BYTES;
  request.on('data', ({ length }: Buffer) => {
    left -= length;
    if (left < 0) request.socket.destroy();
  });
  request.once('end', whenRead);
}
