import { connect } from 'node:net';

/** One response of an HTTP/1.1 server as it came over the wire; `body` is decoded from chunks, not from compression. */
export interface WireResponse {
  readonly status: number;
  /** Names in lower case; the last value of a name counts. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** False if the connection ended before the response. */
  readonly isWhole: boolean;
}

export interface RawExchangeOptions {
  /** Action after everything is written: the sending half is closed, which Node treats as leaving; the connection is reset; or nothing, by
   *  default, so that the server has to end the connection. */
  readonly afterwards?: 'end' | 'reset' | 'wait';
  /** Every byte in a packet of its own. */
  readonly isSlow?: boolean;
  /** Further bytes, written once, as soon as this returns some for the received bytes. */
  readonly followUp?: (response: string) => string;
  /** Disconnects as soon as this has arrived. */
  readonly until?: (response: string) => boolean;
  readonly timeoutMs?: number;
}

/** Writes bytes on a new connection and resolves to everything received, as latin1, until it is closed. */
export function rawExchange(port: number, bytes: Uint8Array | string, options: RawExchangeOptions = {}): Promise<string> {
  const { afterwards = 'wait', isSlow = false, followUp, until = () => false, timeoutMs = 5_000 } = options;
  const data = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let response = '';
  let hasFollowedUp = false;
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const written = () => {
    if (afterwards === 'end') socket.end();
    else if (afterwards === 'reset') socket.resetAndDestroy();
  };
  const writeFrom = (at: number) => {
    if (at >= data.length) written();
    else socket.write(data.subarray(at, at + 1), () => writeFrom(at + 1));
  };
  if (isSlow) writeFrom(0);
  else socket.write(data, written);
  const timer = setTimeout(() => {
    reject(new Error(`no end of the connection after ${timeoutMs} ms; sent ${preview(data)}, got ${JSON.stringify(response)}`));
    socket.destroy();
  }, timeoutMs);
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    response += text;
    if (until(response)) socket.destroy();
    const more = hasFollowedUp ? '' : (followUp?.(response) ?? '');
    if (more === '') return;
    hasFollowedUp = true;
    socket.write(more, 'latin1');
  });
  // A broken connection shows in the received bytes.
  socket.on('error', () => {});
  socket.on('close', () => {
    clearTimeout(timer);
    resolve(response);
  });
  return promise;
}

/** The final responses in the bytes of a server; informational ones are skipped. Throws at anything that is not HTTP. */
export function readResponses(text: string): WireResponse[] {
  const responses: WireResponse[] = [];
  for (let rest = text; rest !== '';) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.slice(0, headEnd === -1 ? rest.length : headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) throw new Error(`not HTTP: ${JSON.stringify(rest.slice(0, 200))}`);
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    if (headEnd === -1) return [...responses, { status, headers, body: '', isWhole: false }];
    const { body, used, isWhole } = readBody(status, headers, rest.slice(headEnd + 4));
    if (status >= 200) responses.push({ status, headers, body, isWhole });
    rest = rest.slice(headEnd + 4 + used);
  }
  return responses;
}

function readBody(status: number, headers: Readonly<Record<string, string>>, text: string) {
  if (status < 200 || status === 204 || status === 304) return { body: '', used: 0, isWhole: true };
  if (headers['transfer-encoding'] === 'chunked') return readChunks(text);
  const length = Number(headers['content-length'] ?? text.length);
  return { body: text.slice(0, length), used: length, isWhole: text.length >= length };
}

function readChunks(text: string) {
  let body = '';
  for (let at = 0; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (size === 0) {
      // The empty line after the trailers.
      const end = text.indexOf('\r\n\r\n', at);
      return { body, used: end === -1 ? text.length : end + 4, isWhole: end !== -1 };
    }
    if (lineEnd === -1 || lineEnd + 2 + size + 2 > text.length) return { body, used: text.length, isWhole: false };
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
}

function preview(bytes: Uint8Array): string {
  return JSON.stringify(Buffer.from(bytes).toString('latin1').slice(0, 300));
}
