import { BODY_KINDS } from '@vitrine/privacy/redaction';
import { BODY_ENDINGS, BODY_PARTS, type CapturedBody, type CapturedExchange } from './captured-exchange.ts';
import { ScopeTable } from './scope-table.ts';
import type { ExchangeScope } from '@vitrine/traces/exchange-scope';
import { OUTCOMES, PROVIDERS } from '@vitrine/traces/trace-values';
import { UPSTREAM_ERRORS } from '@vitrine/traces/upstream-error';

/** Where a batch holds its exchanges. */
export interface BatchMemory {
  readonly numbers: Float64Array<ArrayBuffer>;
  /** Texts and held body bytes, exchange after exchange. */
  readonly bytes: Buffer<ArrayBuffer>;
}

/** Exchanges in the form in which they wait and cross to another thread: two buffers, which are moved, not copied. */
export interface PackedExchanges extends BatchMemory {
  readonly count: number;
  /** See `ScopeTable`. */
  readonly scopes: readonly string[];
  /** What taps read of bodies that are not held whole, request and response in turn. */
  readonly facts: readonly CapturedBody['facts'][];
}

const TEXTS = [
  'method',
  'path',
  'correlationId',
  'otelTraceId',
  'requestHeaders',
  'responseHeaders',
  'credential',
  'findings',
  'upstreamErrorDetail',
] as const;
/** Twelve of the exchange, one length a text, and seven a body. */
const NUMBERS = 12 + TEXTS.length + 2 * 7;
const MIN_BYTES = 16_384;

/** Collects exchanges for a sink. Their bytes are copied at once: what a waiting exchange holds on to would otherwise survive
 *  several collections of a heap that turns over every 50 ms (that alone cost 7 µs an exchange), and no socket is left
 *  writing from memory that is moved to another thread. Texts must be latin-1, as everything on the wire of HTTP is. */
export class ExchangeBatch {
  count = 0;
  /** Body bytes held, as the budget counts them. */
  bodyBytes = 0;
  readonly #capacity: number;
  readonly #numbers: Float64Array<ArrayBuffer>;
  readonly #scopes = new ScopeTable();
  readonly #facts: CapturedBody['facts'][] = [];
  #bytes: Buffer<ArrayBuffer>;
  #at = 0;

  /** Room for `capacity` exchanges; `expectedBytes` saves growing. `memory` is that of another batch of this capacity, which is gone. */
  constructor(capacity: number, expectedBytes: number, memory?: BatchMemory) {
    this.#capacity = capacity;
    this.#numbers = memory?.numbers ?? new Float64Array(capacity * NUMBERS);
    this.#bytes = memory?.bytes ?? Buffer.allocUnsafeSlow(Math.max(MIN_BYTES, expectedBytes));
  }

  get isFull(): boolean {
    return this.count >= this.#capacity;
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.#at;
  }

  add(exchange: CapturedExchange): void {
    this.#makeRoom(exchange);
    const numbers = this.#numbers;
    let n = this.count * NUMBERS;
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
    numbers[n++] = exchange.upstreamError === undefined ? -1 : UPSTREAM_ERRORS.indexOf(exchange.upstreamError);
    numbers[n++] = this.#scopes.numberOf(exchange.scope);
    for (const field of TEXTS) numbers[n++] = this.#write(exchange[field]);
    for (const body of [exchange.request, exchange.response]) {
      numbers[n++] = body.bytes;
      numbers[n++] = BODY_KINDS.indexOf(body.kind);
      numbers[n++] = BODY_PARTS.indexOf(body.part);
      numbers[n++] = BODY_ENDINGS.indexOf(body.ending);
      numbers[n++] = this.#write(body.coding);
      numbers[n++] = this.#hold(body);
      numbers[n++] = this.#facts.push(body.facts);
    }
    this.count += 1;
  }

  pack(): PackedExchanges {
    return { count: this.count, scopes: this.#scopes.texts, numbers: this.#numbers, bytes: this.#bytes, facts: this.#facts };
  }

  #write(text: string): number {
    if (text === '') return 0;
    const length = this.#bytes.write(text, this.#at, 'latin1');
    this.#at += length;
    return length;
  }

  #hold(body: CapturedBody): number {
    const start = this.#at;
    for (const chunk of body.chunks) {
      this.#bytes.set(chunk, this.#at);
      this.#at += chunk.length;
    }
    this.bodyBytes += this.#at - start;
    return this.#at - start;
  }

  #makeRoom(exchange: CapturedExchange): void {
    let needed = this.#at + exchange.request.coding.length + exchange.response.coding.length;
    for (const field of TEXTS) needed += exchange[field].length;
    needed += heldBytes(exchange.request) + heldBytes(exchange.response);
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

/** The exchanges of a batch, made one by one as they are read. `readScope` is of `createScopeReader`. */
export function* unpackExchanges(
  { count, scopes, numbers, bytes, facts }: PackedExchanges,
  readScope: (text: string) => ExchangeScope,
): Generator<CapturedExchange> {
  // A Buffer arrives from another thread as a plain Uint8Array.
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let n = 0;
  let at = 0;
  const number = () => numbers[n++] ?? 0;
  const text = () => {
    const start = at;
    at += number();
    return start === at ? '' : buffer.toString('latin1', start, at);
  };
  const body = (): CapturedBody => {
    const [length, kind, part] = [number(), BODY_KINDS[number()], BODY_PARTS[number()] ?? 'body'];
    const ending = BODY_ENDINGS[number()];
    const coding = text();
    const start = at;
    at += number();
    return {
      bytes: length,
      kind,
      part,
      ending,
      coding,
      chunks: start === at ? [] : [buffer.subarray(start, at)],
      facts: facts[number() - 1],
    };
  };
  for (let i = 0; i < count; i += 1) {
    yield {
      provider: PROVIDERS[number()] ?? 'unknown',
      outcome: OUTCOMES[number()] ?? 'completed',
      sentStatus: number(),
      startedAt: number(),
      endedAt: number(),
      latencyUs: number(),
      firstByteUs: number(),
      responseChunks: number(),
      secretHeaders: number(),
      hasLineage: number() === 1,
      upstreamError: UPSTREAM_ERRORS[number()],
      scope: readScope(scopes[number()] ?? ''),
      method: text(),
      path: text(),
      correlationId: text(),
      otelTraceId: text(),
      requestHeaders: text(),
      responseHeaders: text(),
      credential: text(),
      findings: text(),
      upstreamErrorDetail: text(),
      request: body(),
      response: body(),
    };
  }
}

/** Body bytes that a captured body holds in memory. */
export function heldBytes(body: CapturedBody): number {
  let bytes = 0;
  for (const chunk of body.chunks) bytes += chunk.length;
  return bytes;
}
