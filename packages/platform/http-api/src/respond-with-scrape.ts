import type { Scrape } from '@vitrine/telemetry/metrics/scrape-text';
import type { RawRoute } from './api-app.ts';

/** Responds to a GET or a HEAD with the metrics that `read` returns, in the format that the client accepts. */
export function respondWithScrape(read: (accept: string | undefined) => Promise<Scrape>): RawRoute['respond'] {
  return async ({ method, headers: { accept } }, response) => {
    const { contentType, body } = await read(accept);
    const headers = { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body), Vary: 'Accept' };
    response.writeHead(200, headers).end(method === 'HEAD' ? undefined : body);
  };
}

/** The scrape as a route without a key; empty when the scrape is off. */
export function publicScrape(read: Parameters<typeof respondWithScrape>[0] | undefined, path: string): RawRoute[] {
  return read === undefined ? [] : [{ path, permission: 'public', respond: respondWithScrape(read) }];
}
