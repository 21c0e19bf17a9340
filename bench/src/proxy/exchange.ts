/** The bytes of one exchange as the official SDK and the provider send them: client, mock and check use the same. */

export const DIRECT_PATH = '/v1/chat/completions';
export const PROXY_PREFIX = '/openai';

const MODEL = 'gpt-4o-mini';
const PROSE =
  'A shop in the old town sells lamps, tables and a chair that nobody bought for 11 years. Its owner wrote \\"not for sale\\" on a card, ' +
  'then moved the card to the window, and since that day 3 people a week ask for the price of the card.\\n';

/** `"stream":true` and the mark below are in the first bytes, where the mock looks for them. */
const STREAM_MARK = '"stream":true';
const CUT_MARK = '"user":"bench-cut"';
const WHOLE_MARK = '"user":"bench-all"';

export type RequestKind = 'json' | 'stream' | 'stream-cut';

/** The kind of response to a request that begins with `body`. */
export function kindOf(body: Buffer): RequestKind {
  const start = body.subarray(0, 120);
  if (!start.includes(STREAM_MARK)) return 'json';
  return start.includes(CUT_MARK) ? 'stream-cut' : 'stream';
}

/** A whole HTTP/1.1 request of about 1.7 KB: 17 headers, one more with a gateway key, and a body of 1,024 bytes. */
export function requestBytes(kind: RequestKind, port: number, path: string, gatewayKey?: string): Buffer {
  const user = kind === 'stream-cut' ? CUT_MARK : WHOLE_MARK;
  const stream = kind === 'json' ? '"stream":false' : `${STREAM_MARK},"stream_options":{"include_usage":true}`;
  const before = `{"model":"${MODEL}",${stream},${user},"temperature":0.7,"messages":[{"role":"system","content":"You answer briefly."},{"role":"user","content":"`;
  const body = padded(before, '"}]}', 1024);
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'connection: keep-alive',
    'accept: application/json',
    'content-type: application/json',
    'user-agent: OpenAI/JS 6.9.1',
    'authorization: Bearer sk-bench-0123456789abcdefghijklmnopqrstuvwxyzABCD',
    'x-stainless-lang: js',
    'x-stainless-package-version: 6.9.1',
    'x-stainless-os: Linux',
    'x-stainless-arch: x64',
    'x-stainless-runtime: node',
    'x-stainless-runtime-version: v24.12.0',
    'x-stainless-retry-count: 0',
    'x-stainless-timeout: 600',
    'accept-language: *',
    'sec-fetch-mode: cors',
    ...(gatewayKey === undefined ? [] : [`x-svc-gateway-key: ${gatewayKey}`]),
    `content-length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

/** The body of the JSON response: 2,048 bytes. */
export const JSON_BODY = padded(
  `{"id":"chatcmpl-bench0000000000000000","object":"chat.completion","created":1767225600,"model":"${MODEL}-2024-07-18","choices":[{"index":0,"message":{"role":"assistant","refusal":null,"content":"`,
  '"},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":214,"completion_tokens":402,"total_tokens":616,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0}},"service_tier":"default","system_fingerprint":"fp_bench"}',
  2048,
);

/** The events of the streamed response, each one write of the mock: 50 chunks (48 deltas, the end, the usage) and `[DONE]`. */
export const STREAM_EVENTS: readonly Buffer[] = [
  ...Array.from({ length: 48 }, (_, index) => event(`"choices":[{"index":0,"delta":{"content":" lamp${index + 10}"}}]`)),
  event('"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]'),
  event('"choices":[],"usage":{"prompt_tokens":214,"completion_tokens":48,"total_tokens":262}'),
  Buffer.from('data: [DONE]\n\n'),
];

export const STREAM_BODY = Buffer.concat(STREAM_EVENTS);

const commonHeaders = [
  ['date', 'Thu, 01 Jan 2026 00:00:00 GMT'],
  ['server', 'bench'],
  ['x-request-id', 'req_bench0000000000000000000000000'],
  ['openai-organization', 'bench-org'],
  ['openai-processing-ms', '412'],
  ['openai-version', '2020-10-01'],
  ['x-ratelimit-limit-requests', '10000'],
  ['x-ratelimit-limit-tokens', '2000000'],
  ['x-ratelimit-remaining-requests', '9999'],
  ['x-ratelimit-remaining-tokens', '1999743'],
  ['x-ratelimit-reset-requests', '6ms'],
];

/** Raw header lists for `writeHead`. */
export const JSON_HEADERS = [
  ...commonHeaders,
  ['content-type', 'application/json'],
  ['content-length', String(JSON_BODY.length)],
].flat();
export const STREAM_HEADERS = [
  ...commonHeaders,
  ['content-type', 'text/event-stream; charset=utf-8'],
  ['cache-control', 'no-cache'],
  ['transfer-encoding', 'chunked'],
].flat();

function event(fields: string): Buffer {
  return Buffer.from(`data: {"id":"chatcmpl-bench0","object":"chat.completion.chunk","model":"${MODEL}",${fields}}\n\n`);
}

/** `before` + prose + `after`, `length` bytes in all. */
function padded(before: string, after: string, length: number): Buffer {
  const room = length - before.length - after.length;
  // A cut inside an escape would leave a lone backslash.
  const prose = PROSE.repeat(Math.ceil(room / PROSE.length))
    .slice(0, room)
    .replace(/\\$/, '.');
  return Buffer.from(before + prose + after);
}
