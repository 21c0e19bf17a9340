import { request as httpRequest, type Agent, type IncomingHttpHeaders } from 'node:http';

/** A request of a test. */
export interface PaidRequest {
  readonly kind: 'get' | 'enrich';
  readonly domains: readonly string[];
  readonly refresh: boolean;
  readonly idempotencyKey: string | undefined;
  readonly token: string;
}

/** The result seen by a client; `unknown`: its connection ended before the complete response. */
export type Told =
  | { readonly kind: 'response'; readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string }
  | { readonly kind: 'unknown' };

export interface SendOptions {
  readonly agent: Agent;
  /** The client disconnects after this many milliseconds. */
  readonly leaveAfterMs?: number | undefined;
}

/** Sends a request over a connection of `agent`. Never rejects. */
export function sendPaid(url: string, request: PaidRequest, { agent, leaveAfterMs }: SendOptions): Promise<Told> {
  const { promise, resolve } = Promise.withResolvers<Told>();
  const { kind, domains, refresh, idempotencyKey, token } = request;
  const body = kind === 'enrich' ? JSON.stringify({ domains, refresh }) : undefined;
  const sent = httpRequest(url + (kind === 'enrich' ? '/v1/stores/enrich' : `/v1/stores/${domains[0]}`), {
    agent,
    method: kind === 'enrich' ? 'POST' : 'GET',
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    },
  });
  sent.once('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.once('end', () => {
      const { statusCode: status = 0, headers } = response;
      resolve({ kind: 'response', status, headers, text: Buffer.concat(chunks).toString() });
    });
    response.once('error', () => resolve({ kind: 'unknown' }));
    response.once('close', () => resolve({ kind: 'unknown' }));
  });
  sent.on('error', () => resolve({ kind: 'unknown' }));
  sent.once('close', () => resolve({ kind: 'unknown' }));
  sent.end(body);
  if (leaveAfterMs !== undefined) setTimeout(() => sent.destroy(), leaveAfterMs);
  return promise;
}
