/** A request with a secret in it. */
export interface SecretRequest {
  readonly method?: string;
  /** After the prefix of the mode. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

type Position = (secret: string) => SecretRequest;

const json = (value: unknown) => JSON.stringify(value);
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

/** With the minimum of escaping that a request line allows. */
export const asPath = (secret: string) => secret.replace(/[^\x21-\x7e]|["#%?\\<>{}|^`]/g, encodeURIComponent);
const everyByte = (secret: string) => secret.replace(/./gs, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
/** With the line ends of a private key, where a place can have them. */
export const inLines = (secret: string) => secret.replaceAll(String.raw`\n`, '\n');
const inJsonEscapes = (secret: string) => secret.replace(/./gs, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Positions of a secret in a path or in a query. */
export const ESCAPINGS: Readonly<Record<string, (secret: string) => string>> = {
  raw: asPath,
  'escaped once': encodeURIComponent,
  'escaped twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'escaped byte by byte': everyByte,
  'escaped byte by byte, twice': (secret) => everyByte(secret).replaceAll('%', '%25'),
  'behind %20': (secret) => `a%20${asPath(secret)}`,
  'behind %2520': (secret) => `a%2520${asPath(secret)}`,
};

const HEADS: Readonly<Record<string, Position>> = {
  ...Object.fromEntries(
    Object.entries(ESCAPINGS).flatMap(([name, escaped]) => [
      [`path, ${name}`, (secret: string) => ({ path: `/files/${escaped(secret)}/x` })],
      [`query, ${name}`, (secret: string) => ({ path: `/files?a=1&q=${escaped(secret)}&b=2` })],
    ]),
  ),
  'query, as a form': (secret) => ({ path: `/files?q=${encodeURIComponent(secret).replaceAll('%20', '+')}` }),
  'name of a parameter': (secret) => ({ path: `/files?${encodeURIComponent(secret)}&b=1` }),
  header: (secret) => ({ headers: { 'x-note': secret } }),
  'inside of a header': (secret) => ({ headers: { 'x-note': `a, ${secret}, b; c` } }),
  'JSON in a header': (secret) => ({ headers: { 'x-note': json({ a: secret, b: 1 }) } }),
  'escapes in a header': (secret) => ({ headers: { 'x-note': encodeURIComponent(secret) } }),
  'id of the request': (secret) => ({ headers: { 'x-request-id': secret } }),
  'id of a thread': (secret) => ({ headers: { 'x-svc-thread-id': secret } }),
  'state of a trace': (secret) => ({
    headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: `v=${secret}` },
  }),
  'the header of keys of the gateway before': (secret) => ({ headers: { 'X-OngoingAI-Gateway-Key': secret } }),
  "Azure's header": (secret) => ({ headers: { 'api-key': secret, authorization: '' } }),
};

const BODIES: Readonly<Record<string, Position>> = {
  model: (secret) => ({ headers: JSON_TYPE, body: json({ model: secret }) }),
  'value of JSON': (secret) => ({ headers: JSON_TYPE, body: json({ model: 'm', content: secret, z: 'z' }) }),
  'name in JSON': (secret) => ({ headers: JSON_TYPE, body: json({ a: { [secret]: 'x' }, b: 1 }) }),
  'prose in JSON': (secret) => ({
    headers: JSON_TYPE,
    body: json({ messages: [{ role: 'user', content: `He said "use\n${inLines(secret)}\tthen" and\\or left` }] }),
  }),
  'JSON in a string': (secret) => ({ headers: JSON_TYPE, body: json({ arguments: json({ a: inLines(secret), b: '"' }) }) }),
  'JSON in a string of JSON in a string': (secret) => ({
    headers: JSON_TYPE,
    body: json({ arguments: json({ a: json({ [secret]: `x ${secret} y`, c: 1 }) }) }),
  }),
  'JSON, in escapes': (secret) => ({ headers: JSON_TYPE, body: `{"a":"${inJsonEscapes(secret)}","b":"${inJsonEscapes('x')}"}` }),
  'JSON, percent-encoded': (secret) => ({
    headers: JSON_TYPE,
    body: json({ url: `https://h/?q=${encodeURIComponent(secret)}&n=1` }),
  }),
  'JSON that breaks off': (secret) => ({ headers: JSON_TYPE, body: json({ a: 'x', b: `${secret} , ` }).slice(0, -2) }),
  'value of a form': (secret) => ({ headers: FORM_TYPE, body: new URLSearchParams({ a: 'x', q: secret, b: 'y' }).toString() }),
  'name in a form': (secret) => ({ headers: FORM_TYPE, body: new URLSearchParams({ [secret]: '1', b: 'y' }).toString() }),
  'form, escaped twice': (secret) => ({ headers: FORM_TYPE, body: `q=${encodeURIComponent(encodeURIComponent(secret))}&b=1` }),
  'part of a form': (secret) => multipart('note', inLines(secret)),
  'JSON lines in a part': (secret) => multipart('file', `${json({ a: secret })}\n${json({ b: `"${secret}"` })}\n`),
  'plain text': (secret) => ({ headers: { 'content-type': 'text/plain' }, body: `one\n  ${inLines(secret)}\nthree` }),
  'lines of JSON': (secret) => ({
    headers: { 'content-type': 'application/jsonl' },
    body: `${json({ a: secret })}\n${json({ b: 1 })}\n`,
  }),
  'bytes that are no text': (secret) => ({
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(Buffer.from(`\xff\xfe ${secret} \x00`, 'latin1')),
  }),
};

function multipart(name: string, value: string): SecretRequest {
  const body = `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--edge--\r\n`;
  return { headers: { 'content-type': 'multipart/form-data; boundary=edge' }, body };
}

/** Where a client can put a secret. The provider echoes everything: bodies as its body, `x-note` as a header. */
export const POSITIONS: Readonly<Record<string, Position>> = { ...HEADS, ...BODIES };

type Event = (chunk: string, index: number) => string;

/** Events of streams that carry a model's text. */
const EVENTS: Readonly<Record<string, Event>> = {
  'chat completions': (content, index) => json({ id: 'c', choices: [{ index, delta: { content } }] }),
  'arguments of a tool': (chunk, index) =>
    json({ choices: [{ index: 0, delta: { tool_calls: [{ index, function: { arguments: chunk } }] } }] }),
  responses: (delta, index) => json({ type: 'response.output_text.delta', output_index: index, content_index: 0, delta }),
  messages: (text, index) => json({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }),
  "a tool's input": (chunk, index) =>
    json({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: chunk } }),
};
export const STREAMS: readonly string[] = Object.keys(EVENTS);

/** A stream in which each secret comes in two chunks, cut after so many of its characters; then one in single characters. */
export function streamOf(kind: string, secrets: readonly { readonly text: string; readonly cutAt: number }[]): string {
  const event = (chunk: string) => `data: ${EVENTS[kind]?.(chunk, 0)}\n\n`;
  const chunks = secrets.flatMap(({ text, cutAt }) =>
    cutAt === 0 ? ['one\n', ...text.split(''), '\n'] : [`so\n${text.slice(0, cutAt)}`, `${text.slice(cutAt)}\n, and`],
  );
  return chunks.map(event).join('');
}
