import { BODY_KINDS, type CapturedBody, type CapturedExchange } from './captured-exchange.ts';
import { OUTCOMES, PROVIDERS } from './trace.ts';

/** Exchanges in the form in which they cross to another thread: columns, because a structured clone of 256 objects writes every
 *  key 256 times, and one buffer with all bodies, because moving each by itself costs more than copying it, and copying it
 *  leaves nobody holding memory that a socket may still be writing from. */
export interface ExchangeBatch {
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly texts: readonly string[];
  readonly bodies: Uint8Array<ArrayBuffer>;
  /** Facts of request and response in turn. */
  readonly facts: readonly CapturedBody['facts'][];
}

const NUMBERS = 16;
const TEXTS = 8;

export function packExchanges(exchanges: readonly CapturedExchange[]): ExchangeBatch {
  const numbers = new Float64Array(exchanges.length * NUMBERS);
  const texts: string[] = [];
  const facts: CapturedBody['facts'][] = [];
  let held = 0;
  for (const { request, response } of exchanges) held += heldBytes(request) + heldBytes(response);
  const bodies = new Uint8Array(held);
  let at = 0;
  const keep = (body: CapturedBody): number => {
    const start = at;
    for (const chunk of body.chunks) {
      bodies.set(chunk, at);
      at += chunk.length;
    }
    facts.push(body.facts);
    return at - start;
  };
  let n = 0;
  for (const exchange of exchanges) {
    numbers[n++] = PROVIDERS.indexOf(exchange.provider);
    numbers[n++] = OUTCOMES.indexOf(exchange.outcome);
    numbers[n++] = exchange.sentStatus;
    numbers[n++] = exchange.startedAt;
    numbers[n++] = exchange.endedAt;
    numbers[n++] = exchange.latencyUs;
    numbers[n++] = exchange.firstByteUs;
    numbers[n++] = exchange.responseChunks;
    numbers[n++] = exchange.secretHeaders;
    numbers[n++] = exchange.hasLineage ? 1 : 0;
    for (const body of [exchange.request, exchange.response]) {
      numbers[n++] = keep(body);
      numbers[n++] = body.bytes;
      numbers[n++] = BODY_KINDS.indexOf(body.kind);
    }
    texts.push(exchange.method, exchange.path, exchange.correlationId, exchange.requestHeaders, exchange.responseHeaders);
    texts.push(exchange.request.coding, exchange.response.coding, exchange.credential);
  }
  return { numbers, texts, bodies, facts };
}

export function unpackExchanges({ numbers, texts, bodies, facts }: ExchangeBatch): CapturedExchange[] {
  const exchanges: CapturedExchange[] = [];
  let at = 0;
  const bodyOf = (held: number, rest: Omit<CapturedBody, 'chunks'>): CapturedBody => {
    const chunks = held === 0 ? [] : [bodies.subarray(at, at + held)];
    at += held;
    return { chunks, ...rest };
  };
  for (let i = 0; i * NUMBERS < numbers.length; i += 1) {
    const number = (column: number) => numbers[i * NUMBERS + column] ?? 0;
    const text = (column: number) => texts[i * TEXTS + column] ?? '';
    exchanges.push({
      provider: PROVIDERS[number(0)] ?? 'unknown',
      outcome: OUTCOMES[number(1)] ?? 'completed',
      sentStatus: number(2),
      startedAt: number(3),
      endedAt: number(4),
      latencyUs: number(5),
      firstByteUs: number(6),
      responseChunks: number(7),
      secretHeaders: number(8),
      hasLineage: number(9) === 1,
      request: bodyOf(number(10), { bytes: number(11), kind: BODY_KINDS[number(12)], coding: text(5), facts: facts[2 * i] }),
      response: bodyOf(number(13), { bytes: number(14), kind: BODY_KINDS[number(15)], coding: text(6), facts: facts[2 * i + 1] }),
      method: text(0),
      path: text(1),
      correlationId: text(2),
      requestHeaders: text(3),
      responseHeaders: text(4),
      credential: text(7),
    });
  }
  return exchanges;
}

/** Body bytes that a captured body holds in memory. */
export function heldBytes(body: CapturedBody): number {
  let bytes = 0;
  for (const chunk of body.chunks) bytes += chunk.length;
  return bytes;
}
