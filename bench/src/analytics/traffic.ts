import type { CapturedExchange } from '@vitrine/trace-derivation/captured-exchange';
import { DEFAULT_SCOPE, type ExchangeScope, type Tenant } from '@vitrine/traces/exchange-scope';
import { DAY_MS } from '@vitrine/traces/time-buckets';

// Traffic like that of a company: twelve workspaces, three hundred keys of which a few send most, forty models likewise, more by
// day than by night. It includes rare kinds of traces, one in a thousand, spread over the whole time or all within a few hours of its
// first days.

const KEYS = 300;
const WORKSPACES = 12;
const MODELS = [
  ...Array.from({ length: 24 }, (_, i) => ({ provider: 'openai' as const, name: i === 0 ? 'gpt-4o-mini' : `gpt-4o-${i}` })),
  ...Array.from({ length: 16 }, (_, i) => ({ provider: 'anthropic' as const, name: `claude-sonnet-${i}` })),
];

const ONE_IN = 1_000;
export const NEEDLES = ['model', 'key', 'status', 'tokens'] as const;
export type Needle = `${(typeof NEEDLES)[number]} ${'spread' | 'clustered'}`;
export const NEEDLE_STATUS = { spread: 418, clustered: 404 } as const;
export const NEEDLE_TOKENS = 150_000;

export const tenantOf = (workspace: number): Tenant => ({ org_id: 'org_bench', workspace_id: `ws_${workspace}` });
const SCOPES: readonly ExchangeScope[] = Array.from({ length: KEYS }, (_, key) => ({
  ...tenantOf(key % WORKSPACES),
  gateway_key_id: `gk_${key.toString(16).padStart(16, '0')}`,
  role: 'developer',
}));
export const credentialOf = (key: number | string) => `sk-bench-0123456789abcdefghijklmnop-${key}`;
export const needleModel = (where: string) => `needle-${where}`;
export const COMMON_MODEL = MODELS[0]?.name ?? '';

const HEADERS = Object.entries({
  'content-type': 'application/json',
  'user-agent': 'OpenAI/JS 6.9.1',
  authorization: '[REDACTED]',
  'x-stainless-lang': 'js',
  'x-stainless-runtime-version': 'v24.12.0',
  'content-length': '1024',
})
  .flat()
  .join('\n');

/** Makes the same exchanges at every run, ordered by their ends, `from` is the time of the first. */
export class Traffic {
  readonly #from: number;
  readonly #spanMs: number;
  #state = 0x2545f491;

  constructor(from: number, days: number) {
    this.#from = from;
    this.#spanMs = days * DAY_MS;
  }

  /** The exchange at `share` (0 to 1) of the time. */
  exchange(share: number): CapturedExchange {
    const at = Math.floor(
      this.#from + this.#spanMs * share + 5_000_000 * Math.sin((share * this.#spanMs * 2 * Math.PI) / DAY_MS),
    );
    const needle = this.#needle(share);
    const key = Math.floor(KEYS ** this.#random()) - 1;
    // A key has four models, and one of them most of the time.
    const model = MODELS[(key * 7 + Math.floor(4 ** this.#random()) - 1) % MODELS.length] ?? { provider: 'openai', name: '' };
    const name = needle?.startsWith('model') === true ? needleModel(needle.slice(6)) : model.name;
    const streaming = this.#random() < 0.4;
    const latencyMs = Math.round(Math.exp(6 + 1.2 * this.#normal()));
    const status = this.#status(needle);
    const credential = credentialOf(needle?.startsWith('key') === true ? needle : key);
    return {
      provider: model.provider,
      scope: SCOPES[key] ?? DEFAULT_SCOPE,
      method: 'POST',
      path: model.provider === 'openai' ? '/openai/v1/chat/completions' : '/anthropic/v1/messages',
      sentStatus: status,
      outcome: 'completed',
      startedAt: at - latencyMs,
      endedAt: at,
      latencyUs: latencyMs * 1_000,
      firstByteUs: streaming ? Math.round(latencyMs * 200) : 0,
      otelTraceId: '',
      correlationId: Math.floor(this.#random() * 2 ** 52)
        .toString(16)
        .padStart(16, '0'),
      requestHeaders: HEADERS,
      responseHeaders: HEADERS,
      secretHeaders: 1,
      hasLineage: false,
      credential,
      findings: '',
      upstreamError: undefined,
      upstreamErrorDetail: '',
      retries: 0,
      responseChunks: streaming ? 50 : 1,
      request: bodyOf('json', { model: name }),
      response: bodyOf(streaming ? 'sse' : 'json', this.#usage(needle, status)),
    };
  }

  /** One trace in a thousand of each kind: at any time, or all within a hundredth of it, close to the beginning. */
  #needle(share: number): Needle | undefined {
    const isClusterTime = share > 0.1 && share < 0.11;
    const kind = NEEDLES[Math.floor(this.#random() * (isClusterTime ? ONE_IN / 100 : ONE_IN))];
    return kind && `${kind} ${isClusterTime ? 'clustered' : 'spread'}`;
  }

  #status(needle: Needle | undefined): number {
    if (needle?.startsWith('status') === true) return NEEDLE_STATUS[needle.endsWith('spread') ? 'spread' : 'clustered'];
    const place = this.#random();
    return place < 0.02 ? 429 : place < 0.025 ? 500 : place < 0.028 ? 503 : 200;
  }

  #usage(needle: Needle | undefined, status: number): object | undefined {
    if (status >= 400) return undefined;
    const isLarge = needle?.startsWith('tokens') === true;
    const input = isLarge
      ? NEEDLE_TOKENS + (needle.endsWith('clustered') ? 100_000 : 0)
      : Math.round(Math.exp(6 + this.#normal()));
    const output = Math.round(Math.exp(5 + this.#normal()));
    return { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } };
  }

  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random());
  }

  /** xorshift: the same numbers at every run. */
  #random(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }
}

function bodyOf(kind: 'json' | 'sse', value: object | undefined): CapturedExchange['request'] {
  const text = JSON.stringify(value);
  const chunks = value === undefined ? [] : [Buffer.from(kind === 'sse' ? `data: ${text}\n\n` : text)];
  return { kind, coding: '', chunks, bytes: 1_024, facts: undefined };
}
