import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import { capturedExchange } from '@vitrine/trace-derivation/testing/corpus/corpus-exchange';
import { readExchangeCorpus } from '@vitrine/trace-derivation/testing/corpus/exchange-corpus';
import { DEFAULT_SCOPE, NO_SCOPE } from '@vitrine/traces/exchange-scope';
import { DAY_MS } from '@vitrine/traces/time-buckets';
import fc from 'fast-check';

/** A Monday. */
export const FIRST_DAY = Date.UTC(2026, 10, 23);
export const DAYS = 9;
/** Of both bodies. A dozen audio files are most of the bytes of the corpus. */
const BYTES_MAX = 65_536;

const SCOPES = [
  DEFAULT_SCOPE,
  { org_id: 'acme', workspace_id: 'search', gateway_key_id: 'gk_1', role: 'member' },
  { org_id: 'acme', workspace_id: 'search', gateway_key_id: 'gk_2', role: 'owner' },
  { org_id: 'acme', workspace_id: 'ads', gateway_key_id: 'gk_3', role: 'member' },
];
export const TENANTS = [...SCOPES, NO_SCOPE].map(({ org_id, workspace_id }) => ({ org_id, workspace_id }));

const EMPTY = { kind: undefined, coding: '', chunks: [], bytes: 0, ending: undefined, facts: undefined } as const;

type Change = (exchange: CapturedExchange, share: number) => Partial<CapturedExchange>;

/** What may happen to an exchange of the corpus. `share`: from 0 to 1. */
const CHANGES: readonly (readonly [weight: number, Change])[] = [
  [8, () => ({})],
  // A name without a price.
  [2, ({ request, response }) => ({ request: renamed(request), response: renamed(response) })],
  // The usage is at the end.
  [2, ({ response }, share) => ({ outcome: 'client_closed', response: cut(response, share) })],
  [1, ({ response }) => ({ response: { ...response, facts: 'undecodable', chunks: [] } })],
  [1, () => ({ outcome: 'upstream_error', sentStatus: 502, response: EMPTY, upstreamError: 'reset' })],
  [1, () => ({ outcome: 'rejected', sentStatus: 429, request: EMPTY, response: EMPTY })],
  [1, () => ({ outcome: 'rejected', sentStatus: 401, request: EMPTY, response: EMPTY, scope: NO_SCOPE })],
];

/** Any exchanges of nine days: those of the corpus, some of them with an unknown model, or without their usage. */
export function anyExchange(): fc.Arbitrary<CapturedExchange> {
  const corpus = readExchangeCorpus()
    .flatMap(({ exchanges }) => exchanges.map((exchange) => capturedExchange(exchange)))
    .filter(({ request, response }) => request.bytes + response.bytes < BYTES_MAX);
  return fc
    .record({
      exchange: fc.constantFrom(...corpus),
      change: fc.oneof(...CHANGES.map(([weight, change]) => ({ weight, arbitrary: fc.constant(change) }))),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      scope: fc.constantFrom(...SCOPES),
      credential: fc.constantFrom('', 'sk-one-0123456789', 'sk-two-0123456789'),
      startedAt: fc.integer({ min: FIRST_DAY, max: FIRST_DAY + DAYS * DAY_MS - 1 }),
      latencyMs: fc.oneof(fc.nat(50), fc.nat(120_000)),
      firstByteUs: fc.integer({ min: 1, max: 9_000_000 }),
    })
    .map(({ exchange, change, share, latencyMs, ...fields }) => {
      const times = { endedAt: fields.startedAt + latencyMs, latencyUs: latencyMs * 1_000 };
      return { ...exchange, ...fields, ...times, ...change(exchange, share) };
    });
}

function renamed(body: CapturedExchange['request']): CapturedExchange['request'] {
  const text = Buffer.concat(body.chunks).toString('latin1');
  return withBytes(body, Buffer.from(text.replaceAll(/"model":"[^"]*"/g, '"model":"prod-chat"'), 'latin1'));
}

function cut(body: CapturedExchange['response'], share: number): CapturedExchange['response'] {
  const whole = Buffer.concat(body.chunks);
  return { ...withBytes(body, whole.subarray(0, Math.floor(share * whole.length))), ending: 'cut' };
}

function withBytes(body: CapturedExchange['request'], bytes: Buffer<ArrayBuffer>): CapturedExchange['request'] {
  return { ...body, chunks: [bytes], bytes: bytes.length };
}
