import Negotiator from 'negotiator';
import { drainRequest } from '@vitrine/http-api/connections/drain-request';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { AuthenticatedKey } from '@vitrine/stores/admission/admit-request';
import { allowanceOf } from '@vitrine/stores/default-plan-limits';
import type { UnitCounts } from '@vitrine/stores/resources/billing';
import { secondsOf } from '../admission/key-gate.ts';

/** Larger bodies are compressed if the client accepts it. Spec: S3.25. */
const COMPRESS_ABOVE_BYTES = 8_192;
/** The fastest level suffices, because profiles are repetitive and a batch has 800 KB. */
const GZIP_OPTIONS = { level: constants.Z_BEST_SPEED };
const compress = promisify(gzip);

/** A whole response. `headers`: alternating names and values. An ETag must be weak, because compressed bodies share it. */
export interface SentResponse {
  readonly status: number;
  readonly headers: readonly string[];
  /** Undefined: none. */
  readonly body: string | Uint8Array | undefined;
  readonly type: string;
}

/** Sends a response with one write, and reads the rest of the request. */
export async function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body, type }: SentResponse,
): Promise<void> {
  const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (hasBody && !request.readableEnded) drainRequest(request);
  const isLarge = body !== undefined && Buffer.byteLength(body) > COMPRESS_ABOVE_BYTES;
  const isCompressed = isLarge && new Negotiator(request).encoding(['gzip', 'identity']) === 'gzip';
  const sent = isCompressed ? await compress(body, GZIP_OPTIONS) : body;
  const content = sent === undefined ? [] : ['Content-Type', type, 'Content-Length', String(Buffer.byteLength(sent))];
  if (isLarge) content.push('Vary', 'Accept-Encoding');
  if (isCompressed) content.push('Content-Encoding', 'gzip');
  response.writeHead(status, [...content, ...headers]);
  response.end(request.method === 'HEAD' ? undefined : sent);
}

/** The headers of every response to a known key, as alternating names and values. `used`: units of the period, after the request.
 *  Spec: S3.24, S6.20. */
export function rateHeaders({ plan, period, requests_left, window_ends_in_ms }: AuthenticatedKey, used: UnitCounts): string[] {
  const allowance = allowanceOf(plan.slug, plan.limits);
  return [
    'X-RateLimit-Limit',
    String(plan.limits.rpm),
    'X-RateLimit-Remaining',
    String(requests_left),
    'X-RateLimit-Reset',
    String(secondsOf(window_ends_in_ms)),
    // Partners have no allowance.
    ...(allowance === undefined
      ? []
      : [
          'X-Usage-Remaining',
          String(Math.max(0, allowance.lookup_cached - Math.max(used.lookup_cached, period.used.lookup_cached))),
        ]),
  ];
}
