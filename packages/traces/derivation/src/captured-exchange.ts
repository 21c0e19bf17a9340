import type { BodyKind } from '@vitrine/privacy/redaction';
import type { BodyFacts } from './body-facts.ts';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import type { Outcome, Provider } from '@vitrine/traces/trace';
import type { UpstreamErrorClass } from '@vitrine/traces/upstream-error';

/** What the proxy's main thread hands over when an exchange has ended: references and numbers only. Everything that costs
 *  time (decoding, parsing, hashing, pricing, redacting) is left to `deriveTrace`. */
export interface CapturedExchange {
  readonly provider: Provider;
  readonly scope: ExchangeScope;
  readonly method: string;
  /** As the client sent it, query included; `deriveTrace` removes credentials from it. */
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
  /** How many secret headers were hidden in both. */
  readonly secretHeaders: number;
  /** Whether the request carries any header of the gateway's own. */
  readonly hasLineage: boolean;
  /** The secret that pays the provider: Authorization's bearer token, else X-API-Key, else ''. Only its hash and its last four
   *  characters are kept. */
  readonly credential: string;
  /** What was found in the request before it left, and redacted or rejected (`findingsText`); '' when it was not inspected or nothing was found. */
  readonly findings: string;
  /** What broke on the way to the provider and back, when that ended the exchange. */
  readonly upstreamError: UpstreamErrorClass | undefined;
  /** The system's or the parser's own words for it, short; '' for none. */
  readonly upstreamErrorDetail: string;
  readonly request: CapturedBody;
  readonly response: CapturedBody;
  /** Chunks of the response that reached the client, as they came: not events. */
  readonly responseChunks: number;
}

/** How a body ended: `whole` by its length or its last chunk, `open` with its connection, so that it is not known whether something is
 *  missing, `cut` before its end. */
export type BodyEnding = 'whole' | 'open' | 'cut' | undefined;

/** One direction's body: all of it, its first bytes (see `bytes`), or nothing when it was not kept. */
export interface CapturedBody {
  /** How usage is read from it; undefined: not at all. */
  readonly kind: BodyKind;
  /** Its content coding, such as `gzip`; '' for none. */
  readonly coding: string;
  readonly chunks: readonly Uint8Array[];
  /** Length of the body on the wire. */
  readonly bytes: number;
  /** Undefined: not known. */
  readonly ending?: BodyEnding;
  /** What was read from a body that is not held whole, as it passed; `undecodable` when its content coding was unknown or broken. */
  readonly facts: BodyFacts | 'undecodable' | undefined;
}
