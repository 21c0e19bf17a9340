import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { startTestCollector, type TestCollector } from '@vitrine/testkit/test-collector';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { filesText, telemetryText, unpackedBodies } from './leak-search.ts';
import { rawExchange } from './raw-exchange.ts';
import { startGateway, type RunningGateway } from './running-gateway.ts';

// `secret-sweep.test.ts` sends every form of a secret to every place; this file covers unusual places and personal data. A distinct
// secret is sent to every place where a client or a provider can put one. None may be found again: not in a file, not in the log, not in
// the API's responses about traces, not in the gateway's own responses. A secret names its place.

const MARK = 'canary';
const keyFor = (place: string) => `sk-proj-${MARK}-${place}-0123456789`;
const GATEWAY_KEY = `sgk_${MARK}-gateway-key-0123456789`;
/** Keys of other services, and passwords in URLs. */
const OTHER_SECRETS = [
  'AKIACANARY0123456789',
  `AIzaSy-${MARK}-0123456789`,
  `hf_${MARK}0123456789abcdefgh`,
  `glpat-${MARK}-0123456789`,
  `npm_${MARK}0123456789abcd`,
  `SG.${MARK}-0123456789.${MARK}-0123456789abcdefghijklmnopqrstuvwxyz`,
  `xai-${MARK}0123456789abcd`,
  `gsk_${MARK}0123456789abcd`,
  `sk-ant-oat01-${MARK}-0123456789`,
  `postgres://bob:${MARK},p@ss@db.example.com/x`,
];
const PRIVATE_KEY = ['-----BEGIN PRIVATE KEY-----', `${MARK}0123456789abcdefgh`, MARK, '-----END PRIVATE KEY-----'];

let opened: AsyncDisposableStack;
let gateway: RunningGateway;
let collector: TestCollector;
let folder: string;
/** Responses of the gateway itself. */
const ownResponses: string[] = [];

beforeAll(async () => {
  opened = new AsyncDisposableStack();
  folder = opened.use(await temporaryFolder('secrets')).path;
  const provider = opened.use(await startMockOpenai());
  await writeFile(
    join(folder, 'vitrine.yaml'),
    `log: { level: trace, access: true }
tracing: { capture_bodies: true, body_max_size: 20000 }
pii:
  headers: { denylist: [x-customer] }
  replacement: { hash_salt: ${MARK}-salt }
  scopes:
    - { match: { route_prefix: /openai/v1/blocked }, mode: block }
    - { match: { route_prefix: /openai/v1/guarded }, mode: redact_upstream }
observability: { otel: { prometheus_enabled: true, genai: true } }
auth:
  enabled: true
  keys: [{ id: gk_test, token: ${GATEWAY_KEY}, org_id: o, workspace_id: w, role: owner }]
`,
  );
  collector = opened.use(await startTestCollector());
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_METRIC_EXPORT_INTERVAL: '200' };
  gateway = opened.use(await startGateway({ folder, upstream: provider.url, variables }));
  await sendEverywhere();
});
afterAll(async () => opened.disposeAsync());

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** Sends a request with the gateway key; the response's text. */
async function send(path: string, { method = 'POST', headers = {}, body }: Sent = {}): Promise<string> {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      'x-svc-gateway-key': GATEWAY_KEY,
      authorization: `Bearer ${keyFor('provider')}`,
      'content-type': 'application/json',
      'x-mock-scenario': 'echo',
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  return response.text();
}

/** Sends a request that the gateway responds to by itself. */
async function provoke(path: string, sent: Sent = {}): Promise<void> {
  ownResponses.push(await send(path, sent));
}

const CHAT = '/openai/v1/chat/completions';
const json = (value: unknown) => JSON.stringify(value);
const event = (content: string) => `data: ${json({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

async function sendEverywhere(): Promise<void> {
  await sendBodies();
  await sendHeads();
  await sendErrors();
  const { enqueue_accepted_total: traces } = await diagnostics();
  await waitUntil(async () => (await diagnostics()).written_total >= traces, { what: 'all traces' });
  const enqueued = () => collector.spans.filter(({ name }) => name === 'gateway.trace.enqueue').length;
  await waitUntil(() => enqueued() >= traces, { what: 'all spans' });
}

async function diagnostics(): Promise<{ enqueue_accepted_total: number; written_total: number }> {
  const text = await send('/api/diagnostics/trace-pipeline', { method: 'GET' });
  return (JSON.parse(text) as { diagnostics: { enqueue_accepted_total: number; written_total: number } }).diagnostics;
}

/** The mock echoes them, so that each is in a request and in a response. */
async function sendBodies(): Promise<void> {
  const nested = json({ password: `${MARK}-nested`, note: keyFor('nested') });
  for (const body of [
    json({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: `line\n${keyFor('content')}\n` }] }),
    json({ model: keyFor('model') }),
    json({ password: `${MARK}-field`, Api_Key: `${MARK}-spelling`, list: [{ secret: { deep: [`${MARK}-deep`] } }] }),
    json({ tools: [{ function: { arguments: nested } }], twice: json({ inner: nested }) }),
    json({ [keyFor('name')]: 1 }),
    json({ filler: 'x '.repeat(9_980), password: `${MARK}-cut-field `.repeat(50) }),
    json({ filler: 'x '.repeat(9_980), content: `${keyFor('cut')} ${`${MARK}@example.com `.repeat(50)}` }),
    `{"content":"${keyFor('escaped').replaceAll('-', '\\u002d')}"}`,
    `{"password":"${MARK}-unfinished`,
    `plain ${keyFor('plain')}, password=${MARK}-assignment`,
    json({ content: `of others: ${[...OTHER_SECRETS, ...PRIVATE_KEY].join('\n')}` }),
    [...OTHER_SECRETS, ...PRIVATE_KEY].join('\n'),
    json({ arguments: json({ others: [...OTHER_SECRETS, PRIVATE_KEY.join('\r\n')] }) }),
    json({ private_key: PRIVATE_KEY.slice(0, 3).join('\n') }),
  ])
    await send(CHAT, { body });
  await send(CHAT, { body: gzipSync(json({ token: `${MARK}-gzip` })), headers: { 'content-encoding': 'gzip' } });
  await send(CHAT, {
    body: gzipSync(json({ token: `${MARK}-broken-gzip` })).subarray(0, 20),
    headers: { 'content-encoding': 'gzip' },
  });
  await send(CHAT, { body: new Uint8Array(Buffer.from(`\xff {"token":"${MARK}-latin-1"} ${keyFor('latin-1')}`, 'latin1')) });
  const chunks = Array.from(`so ${keyFor('stream')} and ${MARK}@example.com.`.match(/.{1,5}/g) ?? [], event);
  await send(CHAT, {
    body: `${chunks.join('')}data: ${json({ token: `${MARK}-event` })}\n\n`,
    headers: { 'content-type': 'text/event-stream' },
  });
  const form = new FormData();
  form.set('password', `${MARK}-part`);
  form.set('file', new Blob([`{"token":"${MARK}-file"}\n`, keyFor('file')]), 'a.jsonl');
  const multipart = new Response(form);
  await send('/openai/v1/files', {
    body: new Uint8Array(await multipart.arrayBuffer()),
    headers: { 'content-type': multipart.headers.get('content-type') ?? '' },
  });
  await send('/openai/v1/form', {
    body: `password=${MARK}-form&a=${keyFor('form')}&user[token]=${MARK}-below&to=${MARK}%40example.com`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  await send('/openai/v1/guarded', { body: json({ token: `${MARK}-guarded`, content: keyFor('guarded') }) });
}

async function sendHeads(): Promise<void> {
  await send(
    `${CHAT}?api_key=${MARK}-query-name&note=${keyFor('query')}&email=${MARK}%40example.com&p=${keyFor('percent').replaceAll('-', '%2D')}`,
    {
      body: '{}',
    },
  );
  await send(`/openai/v1/${keyFor('path')}/x`, { body: '{}' });
  for (const secret of [...OTHER_SECRETS, PRIVATE_KEY.join(String.raw`\n`)]) {
    await send(`/openai/v1/${encodeURIComponent(secret)}/x?a=${encodeURIComponent(secret)}&b=1`, { body: '{}' });
    await send(CHAT, { body: '{}', headers: { 'x-note': secret, 'x-svc-thread-id': secret, 'x-request-id': secret } });
  }
  await send('/anthropic/v1/messages', { body: json({ model: 'claude' }), headers: { 'x-api-key': keyFor('x-api-key') } });
  await send(CHAT, {
    body: '{}',
    headers: {
      'x-note': keyFor('header'),
      'x-customer': `${MARK}-customer`,
      cookie: `session=${MARK}-cookie`,
      'proxy-authorization': `Basic ${MARK}-proxy`,
      'x-goog-api-key': `${MARK}-goog`,
      'ocp-apim-subscription-key': `${MARK}-azure`,
      'x-auth-token': `${MARK}-auth`,
      'x-request-id': keyFor('correlation'),
      'x-svc-trace-group-id': keyFor('group'),
      'x-svc-thread-id': keyFor('thread'),
      'x-svc-run-id': keyFor('run'),
      'x-svc-parent-checkpoint-id': keyFor('parent'),
      'x-svc-checkpoint-seq': keyFor('seq'),
      'x-forwarded-for': keyFor('forwarded'),
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: `vendor=${keyFor('tracestate')}`,
    },
  });
  await send(CHAT, { body: '{}', headers: { authorization: `Bearer eyJhbGci.${MARK}.signature` } });
}

async function sendErrors(): Promise<void> {
  await provoke(CHAT, { body: '{}', headers: { 'x-svc-gateway-key': `sgk_${MARK}-wrong-key-0123456789` } });
  await provoke(`${CHAT}?token=${MARK}-denied`, { body: '{}', headers: { 'x-svc-gateway-key': '' } });
  await provoke('/openai/v1/blocked', { body: json({ password: `${MARK}-blocked`, c: keyFor('blocked') }) });
  await provoke(`/openai/v1/blocked/${keyFor('blocked-path')}`, { body: '{}' });
  await provoke('/openai/v1/guarded', { body: `{"token":"${MARK}-broken-guarded` });
  for (const secret of OTHER_SECRETS) await provoke(`/api/traces/${encodeURIComponent(secret)}`, { method: 'GET' });
  for (const name of ['limit', 'from', 'cursor', 'status', keyFor('parameter-name')])
    await provoke(`/api/traces?${name}=${keyFor('parameter')}`, { method: 'GET' });
  for (const name of ['group_by', 'bucket', 'from'])
    await provoke(`/api/analytics/usage?${name}=${keyFor('parameter')}`, { method: 'GET' });
  await provoke(`/api/traces/${keyFor('id')}`, { method: 'GET' });
  await provoke(`/api/${keyFor('nowhere')}`, { method: 'GET' });
  await provoke('/api/gateway-keys', { body: `{"name": "${keyFor('broken-json')}` });
  await provoke('/api/gateway-keys', { body: json({ [keyFor('unknown-field')]: 1 }) });
  await provoke('/api/gateway-keys', { body: json({ role: keyFor('role'), permissions: [keyFor('permission')] }) });
  await provoke(`/api/gateway-keys/${keyFor('key-id')}`, { method: 'DELETE' });
  for (const line of [
    `GET http://x/${keyFor('absolute')} HTTP/1.1\r\nHost: a\r\n\r\n`,
    `GET /openai/${keyFor('no-host')} HTTP/1.1\r\nX-Svc-Gateway-Key: ${GATEWAY_KEY}\r\n\r\n`,
    `GET /openai/v1/%2e%2e/${keyFor('dots')} HTTP/1.1\r\nHost: a\r\nX-Svc-Gateway-Key: ${GATEWAY_KEY}\r\n\r\n`,
    `${keyFor('method')} / HTTP/1.1\r\nHost: a\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${keyFor('long-header').repeat(1_000)}\r\n\r\n`,
  ])
    ownResponses.push(await rawExchange(gateway.port, line, { until: (response) => response.includes('}') }));
}

/** Places where a secret could leak, and their content. */
const SINKS: Readonly<Record<string, () => Promise<string>>> = {
  'every trace, as the API returns it': async () => {
    const list = await send('/api/traces?limit=200', { method: 'GET' });
    const { items } = JSON.parse(list) as { items: { id: string }[] };
    const details = await Promise.all(items.map(({ id }) => send(`/api/traces/${id}`, { method: 'GET' })));
    return [list, ...details, ...details.flatMap(unpackedBodies)].join('\n');
  },
  'the other responses of the API': async () =>
    (
      await Promise.all(
        ['/', '/api/health', '/api/diagnostics/trace-pipeline', '/api/gateway-keys'].map((path) => send(path, { method: 'GET' })),
      )
    ).join('\n'),
  "the gateway's own responses": () => Promise.resolve(ownResponses.join('\n')),
  'the log': () => Promise.resolve(gateway.process.stdout + gateway.process.stderr),
  'the spans': () => Promise.resolve(telemetryText(collector.spans)),
  'the metrics': () => Promise.resolve(telemetryText(collector.metricExports)),
  'the scrape': () => send('/metrics', { method: 'GET', headers: { accept: 'application/openmetrics-text' } }),
  'the files': () => filesText(folder, ['vitrine.yaml']),
};

describe('no secret leaks in', () => {
  test.each(Object.entries(SINKS))('%s', async (_, read) => {
    const text = await read();
    expect(text.length).toBeGreaterThan(0);
    const found = [...text.matchAll(/.{0,60}canary.{0,60}/gi)].map(([around]) => around);
    expect(found).toEqual([]);
  });
});

test('the exchanges were made and stored, with their bodies', async () => {
  const list = await send('/api/traces?limit=200', { method: 'GET' });
  const { items } = JSON.parse(list) as { items: { id: string }[] };
  const details = await Promise.all(
    items.map(
      async ({ id }) =>
        JSON.parse(await send(`/api/traces/${id}`, { method: 'GET' })) as { request_body?: string; metadata: object },
    ),
  );
  expect(items.length).toBeGreaterThan(25);
  expect(details.filter((trace) => trace.request_body !== undefined).length).toBeGreaterThan(15);
  expect(
    details.filter((trace) => 'redaction_applied' in trace.metadata && trace.metadata.redaction_applied === true).length,
  ).toBe(items.length);
});
