import type { IncomingMessage } from 'node:http';

/** Why a request that Node has parsed cannot be served; undefined for a valid one. */
export function requestError(request: IncomingMessage): string | undefined {
  return versionError(request) ?? hostError(request) ?? codingError(request);
}

/** Node treats a request line without a version as HTTP/0.9 but reads headers after it, which HTTP/0.9 does not have. It also accepts HTTP/2.0 as
 *  a version of this syntax. */
function versionError({ httpVersionMajor }: IncomingMessage): string | undefined {
  return httpVersionMajor === 1 ? undefined : 'the request must be HTTP/1.1 or HTTP/1.0';
}

function hostError(request: IncomingMessage): string | undefined {
  const hosts = countHosts(request.rawHeaders);
  const isOne = hosts === 1 || (hosts === 0 && request.httpVersion === '1.0');
  return isOne ? undefined : 'the request must have one Host header';
}

/** Only chunked is decoded. Node rejects any other coding in the last place. HTTP/1.0 has no transfer codings (RFC 9112, 6.1). */
function codingError({ headers, httpVersion }: IncomingMessage): string | undefined {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0') return 'an HTTP/1.0 request must have no transfer coding';
  return /,\s*chunked$/i.test(coding) ? 'the request must have no transfer coding but chunked' : undefined;
}

function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
}
