import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';

export interface RawResponse {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly bytes: number;
  readonly sha256: string;
  /** The body's first MiB. */
  readonly head: Buffer;
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A buffer is sent with its length, several are sent chunked. */
  readonly body?: Buffer | Iterable<Buffer>;
}

/** Sends a request and returns the response's raw bytes, without decoding or following redirects. */
export function rawExchange(url: string, { method = 'POST', headers = {}, body }: RawRequest = {}): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  const length = Buffer.isBuffer(body) ? { 'content-length': String(body.length) } : {};
  const request = httpRequest(url, { method, headers: { ...headers, ...length } }, (response) => {
    const hash = createHash('sha256');
    const kept: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      if (bytes < 1_048_576) kept.push(chunk);
      bytes += chunk.length;
    });
    response.on('error', reject);
    response.on('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        rawHeaders: response.rawHeaders,
        bytes,
        sha256: hash.digest('hex'),
        head: Buffer.concat(kept),
      }),
    );
  });
  request.on('error', reject);
  if (body === undefined || Buffer.isBuffer(body)) request.end(body);
  else void writeAll(request, body).catch(reject);
  return promise;
}

async function writeAll(request: ReturnType<typeof httpRequest>, chunks: Iterable<Buffer>): Promise<void> {
  for (const chunk of chunks) if (!request.write(chunk)) await new Promise((resolve) => request.once('drain', resolve));
  request.end();
}

/** Writes text on a new connection to `url`'s server and returns everything received until it is closed or `enough` returns true. */
export function rawTalk(url: string, text: string, enough: (response: string) => boolean = () => false): Promise<string> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<string>();
  let response = '';
  const socket = connect(Number(port), hostname, () => socket.write(text, 'latin1'));
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    response += chunk;
    if (enough(response)) socket.destroy();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => resolve(response));
  return promise;
}
