import type { BodyKind } from '@vitrine/privacy/redaction';
import type { BodyFacts } from './body-facts.ts';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import type { Outcome, Provider } from '@vitrine/traces/trace';
import type { UpstreamErrorClass } from '@vitrine/traces/upstream-error';

/** The output of the proxy's main thread for a finished exchange: only references and numbers. Everything that takes time (decoding, parsing,
 *  hashing, pricing, redacting) is done by `deriveTrace`. */
export interface CapturedExchange {
  readonly provider: Provider;
  readonly scope: ExchangeScope;
  readonly method: string;
  /** As the client sent it, including the query; `deriveTrace` removes credentials. */
  readonly path: string;
  /** The status that went to the client; 0 when nothing did. */
  readonly sentStatus: number;
  readonly outcome: Outcome;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly latencyUs: number;
  /** From the request's receipt to the first body byte of a stream; 0 for anything else. */
  readonly firstByteUs: number;
  readonly correlationId: string;
  /** The trace id of the `traceparent` that the client sent; '' for none. */
  readonly otelTraceId: string;
  /** Header lines (see `header-lines.ts`) as the client sent them, secret headers already `[REDACTED]`. */
  readonly requestHeaders: string;
  /** Header lines as the client got them, likewise. */
  readonly responseHeaders: string;
  /** Number of secret headers hidden in both. */
  readonly secretHeaders: number;
  /** Whether the request carries any header of the gateway's own. */
  readonly hasLineage: boolean;
  /** The credential that the provider bills: Authorization's bearer token, else X-API-Key, else ''. Only its hash and its last four
   *  characters are kept. */
  readonly credential: string;
  /** Findings in the request before it was forwarded, redacted or rejected (`findingsText`); '' without an inspection or findings. */
  readonly findings: string;
  /** The failure between gateway and provider that ended the exchange. */
  readonly upstreamError: UpstreamErrorClass | undefined;
  /** The short message of the system or the parser; '' for none. */
  readonly upstreamErrorDetail: string;
  /** How often the request was sent again because a reused connection had closed. */
  readonly retries: number;
  readonly request: CapturedBody;
  readonly response: CapturedBody;
  /** Chunks of the response that reached the client, which are not events. */
  readonly responseChunks: number;
  /** Of a stream whose bodies are stored. */
  readonly chunkTimes?: readonly ChunkTime[] | undefined;
}

/** When a chunk of the response arrived: its offset in the body before decoding, and whole milliseconds since the request's receipt. */
export type ChunkTime = readonly [offset: number, ms: number];

/** How a body ended: `whole` by its length or its last chunk, `open` with its connection, so that it may be incomplete, `cut` before its end. */
export type BodyEnding = 'whole' | 'open' | 'cut' | undefined;

/** The body of one direction: complete, its first bytes (see `bytes`), or nothing when it was not kept. */
export interface CapturedBody {
  /** How usage is read from it; undefined if it is not read. */
  readonly kind: BodyKind;
  /** The boundary of a form. */
  readonly boundary?: string | undefined;
  /** Its content coding, such as `gzip`; '' for none. */
  readonly coding: string;
  readonly chunks: readonly Uint8Array[];
  /** Length of the body on the wire. */
  readonly bytes: number;
  /** Undefined if unknown. */
  readonly ending?: BodyEnding;
  /** Facts of a body that was read as it passed because it is not kept completely; `undecodable` when its content coding was unknown or broken. */
  readonly facts: BodyFacts | 'undecodable' | undefined;
}
