import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { rawExchange, type RawRequest } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const YAML = `
tracing: { capture_bodies: true, body_max_size: 100000 }
pii:
  mode: redact_upstream
  policy_id: strict/v2
  replacement: { format: "[{type}]" }
  headers: { denylist: [x-user] }
  scopes:
    - { match: { route_prefix: /openai/v1/blocked }, mode: block, policy_id: block/v1 }
    - { match: { provider: anthropic }, mode: redact_storage }
`;

let gateway: TestGateway;
let count = 0;
beforeAll(async () => {
  gateway = await startTestGateway({}, YAML);
});
afterAll(async () => gateway[Symbol.asyncDispose]());
beforeEach(async () => {
  count = ((await gateway.get('/api/health')) as { trace_count: number }).trace_count + 1;
});

const CREDENTIAL = 'Bearer sk-provider-01234abcd';
const send = (path: string, request: RawRequest) =>
  rawExchange(gateway.url + path, {
    ...request,
    headers: { authorization: CREDENTIAL, 'content-type': 'application/json', 'x-mock-scenario': 'echo', ...request.headers },
  });
const lastAtProvider = () => {
  const { body, rawHeaders = [], url } = gateway.openai.received.at(-1) ?? {};
  const headers = Object.fromEntries(
    rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1]]] : [])),
  ) as Record<string, string | undefined>;
  return { body: body?.toString() ?? '', headers, url };
};
const auditOf = (correlationId: string) => {
  const path = join(gateway.folder, 'gateway-keys.db');
  using database = new DatabaseSync(path, { readOnly: true });
  return database.prepare('SELECT * FROM audit_events WHERE correlation_id = ?').all(correlationId);
};
const atLeastOne = <T>(rows: T[]) => rows.length > 0 && rows;
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const PRIVATE = {
  model: 'gpt-4o-mini',
  max_tokens: 5,
  messages: [{ role: 'user', content: 'Ich hei\u00dfe J\u00f6rg, alice@example.com,\n123-45-6789' }],
  password: 'hunter2',
};
const REDACTED = {
  model: 'gpt-4o-mini',
  max_tokens: 5,
  messages: [{ role: 'user', content: 'Ich hei\u00dfe J\u00f6rg, [EMAIL],\n[SSN]' }],
  password: '[FIELD]',
};

describe('redact_upstream', () => {
  test.each([
    ['of known length', json(PRIVATE)],
    ['in chunks', [json(PRIVATE).subarray(0, 20), json(PRIVATE).subarray(20)]],
  ])('a request %s reaches the provider redacted and with its correct length', async (_, body) => {
    const response = await send('/openai/v1/chat/completions', { body });
    const { body: sent, headers } = lastAtProvider();
    expect(JSON.parse(sent)).toEqual(REDACTED);
    expect(headers['content-length']).toBe(String(Buffer.byteLength(sent)));
    expect(headers['authorization']).toBe(CREDENTIAL);
    expect([response.status, response.head.toString()]).toEqual([200, sent]);
    const trace = await gateway.newest(count);
    expect(trace).toMatchObject({ outcome: 'completed', model: 'gpt-4o-mini', request_body: sent, response_body: sent });
    expect(trace.metadata).toMatchObject({
      redaction_mode: 'redact_upstream',
      redaction_policy_id: 'strict/v2',
      redaction_applied: true,
      redaction_counts: { header: 2, email: 1, phone: 0, ssn: 1, token_like: 0, field_name: 1 },
    });
  });

  test('a request without findings passes byte for byte, with any spacing and any escapes', async () => {
    const body = Buffer.from('{ "model" : "gpt-4o-mini",\n\t"max_tokens": 5.0, "x": "caf\\u00e9 \\/" }\r\n');
    await send('/openai/v1/chat/completions', { body });
    expect(lastAtProvider().body).toBe(body.toString());
    expect((await gateway.newest(count)).metadata).toMatchObject({ redaction_counts: { email: 0, field_name: 0 } });
  });

  test('headers are redacted, except for the credential of the provider', async () => {
    await send('/openai/v1/models', {
      method: 'GET',
      headers: { 'x-user': 'bob', 'x-note': 'ask bob@example.com', 'x-api-key': 'sk-other-012345678' },
    });
    expect(lastAtProvider().headers).toMatchObject({
      'x-user': '[REDACTED]',
      'x-note': 'ask [EMAIL]',
      'x-api-key': 'sk-other-012345678',
      authorization: CREDENTIAL,
    });
    expect((await gateway.newest(count)).request_headers).toMatchObject({ 'x-user': ['[REDACTED]'], 'x-note': ['ask [EMAIL]'] });
  });

  test('text and forms are redacted in their own format', async () => {
    await send('/openai/v1/form', {
      body: Buffer.from('a=1&token=abc&to=bob%40example.com'),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(lastAtProvider().body).toBe('a=1&token=[FIELD]&to=%5BEMAIL%5D');
    await send('/openai/v1/text', {
      body: Buffer.from('call +49 151 12345678'),
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    });
    expect(lastAtProvider().body).toBe('call [PHONE]');
    expect((await gateway.newest(count + 1)).request_body).toBe('call [PHONE]');
  });

  test('schemas of tools reach the provider unchanged, and lookalikes are redacted', async () => {
    const schema = {
      type: 'object',
      properties: {
        email: { type: 'string', description: 'where to write to' },
        token: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['email'],
    };
    const context = [
      { type: 'function', function: { name: 'f', parameters: schema } },
      { name: 'g', input_schema: { $defs: { password: { type: 'string' } }, ...schema } },
    ];
    const response_format = { type: 'json_schema', json_schema: { name: 'h', schema } };
    await send('/openai/v1/chat/completions', {
      body: json({ tools: context, response_format, password: { type: 'string', value: 'hunter2' } }),
    });
    expect(JSON.parse(lastAtProvider().body)).toEqual({ tools: context, response_format, password: '[FIELD]' });
    expect((await gateway.newest(count)).request_body).toBe(lastAtProvider().body);
  });

  test.each(['application/x-ndjson', 'application/jsonl', 'application/jsonlines', 'application/json-seq'])(
    'a finding split over lines of %s does not reach the provider',
    async (type) => {
      const line = (delta: string) => `${JSON.stringify({ type: 'input.delta', delta })}\n`;
      await send('/openai/v1/lines', {
        body: Buffer.from(line('to ali') + line('ce@exam') + line('ple.com')),
        headers: { 'content-type': type },
      });
      expect(lastAtProvider().body).toBe(line('to [EMAIL]') + line('') + line(''));
      expect((await gateway.newest(count)).request_body).toBe(lastAtProvider().body);
    },
  );

  test('a response passes unchanged', async () => {
    const response = await send('/openai/v1/chat/completions', {
      body: json({ model: 'gpt-4o-mini' }),
      headers: { 'x-mock-scenario': '' },
    });
    expect(JSON.parse(response.head.toString())).toMatchObject({ object: 'chat.completion' });
    expect((await gateway.newest(count)).response_body).toBe(response.head.toString());
  });

  test('other scopes are not affected', async () => {
    await send('/anthropic/v1/messages', { body: json(PRIVATE) });
    expect(gateway.anthropic.received.at(-1)?.body.toString()).toBe(JSON.stringify(PRIVATE));
    const trace = await gateway.newest(count);
    expect(JSON.parse(trace.request_body ?? '')).toEqual(REDACTED);
    expect(trace.metadata).toMatchObject({ redaction_mode: 'redact_storage', redaction_policy_id: 'strict/v2' });
  });
});

describe('a body that cannot be inspected is refused before forwarding', () => {
  const large = json({ x: 'a'.repeat(100_000) });
  test.each<[string, RawRequest, number, string]>([
    [
      'a coded body',
      { body: gzipSync(json(PRIVATE)), headers: { 'content-encoding': 'gzip' } },
      415,
      'its content coding is not identity',
    ],
    [
      'multipart form data',
      { body: json(PRIVATE), headers: { 'content-type': 'multipart/form-data; boundary=x' } },
      415,
      'its content type is not JSON, text or a form',
    ],
    [
      'two character sets',
      { body: json({}), headers: { 'content-type': 'application/json; charset=utf-8; charset=utf-7' } },
      415,
      'its character set is not UTF-8',
    ],
    [
      'another character set',
      { body: json({}), headers: { 'content-type': 'application/json; charset=utf-16' } },
      415,
      'its character set is not UTF-8',
    ],
    [
      'UTF-16 that says nothing of it',
      { body: Buffer.from('bob@example.com', 'utf16le'), headers: { 'content-type': 'text/plain' } },
      415,
      'it is not UTF-8 text',
    ],
    ['latin-1', { body: Buffer.from('{"a":"\xe9"}', 'latin1') }, 415, 'it is not UTF-8 text'],
    ['JSON that is none', { body: Buffer.from('{"a":1,}') }, 400, 'it is not JSON'],
    ['a long body', { body: large }, 413, 'it is larger than 100000 bytes (tracing.body_max_size)'],
    [
      'a long body in chunks',
      { body: [large.subarray(0, 60_000), large.subarray(60_000)] },
      413,
      'it is larger than 100000 bytes (tracing.body_max_size)',
    ],
  ])('%s', async (_, request, status, because) => {
    const before = gateway.openai.exchanges;
    const response = await send('/openai/v1/chat/completions', request);
    expect([response.status, JSON.parse(response.head.toString())]).toEqual([
      status,
      { error: `request refused by pii policy: the body cannot be inspected, ${because}` },
    ]);
    const trace = await gateway.newest(count);
    expect(trace).toMatchObject({ outcome: 'rejected', response_status: status, cost_status: 'free' });
    expect(trace.request_body).toBeUndefined();
    expect(gateway.openai.exchanges).toBe(before);
  });

  test('a path with a finding is refused, because it cannot be rewritten', async () => {
    const before = gateway.openai.exchanges;
    const response = await send('/openai/v1/users/bob%40example.com?limit=1', { method: 'GET' });
    expect([response.status, JSON.parse(response.head.toString())]).toEqual([
      403,
      { error: 'request blocked by pii policy: found email in the path' },
    ]);
    expect(gateway.openai.exchanges).toBe(before);
    expect(await gateway.newest(count)).toMatchObject({ outcome: 'rejected', request_path: '/openai/v1/users/[EMAIL]?limit=1' });
  });
});

describe('block', () => {
  test.each<[string, RawRequest, string]>([
    ['in its body', { body: json(PRIVATE) }, 'email, ssn, field_name'],
    ['in JSON in a string of it', { body: json({ a: JSON.stringify({ api_key: 'x' }) }) }, 'field_name'],
    ['in a header', { body: json({}), headers: { 'x-note': 'bob@example.com' } }, 'email'],
    ['in a header that is denied', { body: json({}), headers: { 'x-user': 'bob' } }, 'header'],
    ['in text without a content type', { body: Buffer.from('sk-proj-abcdefgh'), headers: { 'content-type': '' } }, 'token_like'],
  ])('a request with a finding %s is refused without repeating the finding', async (_, request, kinds) => {
    const before = gateway.openai.exchanges;
    const response = await send('/openai/v1/blocked', request);
    expect([response.status, JSON.parse(response.head.toString())]).toEqual([
      403,
      { error: `request blocked by pii policy: found ${kinds}` },
    ]);
    expect(gateway.openai.exchanges).toBe(before);
    const trace = await gateway.newest(count);
    expect(trace).toMatchObject({ outcome: 'rejected', response_status: 403 });
    expect(trace.request_body).toBeUndefined();
    expect(trace.metadata).toMatchObject({ redaction_mode: 'block', redaction_policy_id: 'block/v1', redaction_applied: true });
    for (const kind of kinds.split(', '))
      expect((trace.metadata['redaction_counts'] as Record<string, number>)[kind]).toBeGreaterThan(0);
    expect(JSON.stringify([trace, gateway.log])).not.toMatch(/hunter2|alice@|bob@|45-6789|abcdefgh/);
  });

  test('a request without a finding passes, and neither a provider credential nor a cookie counts as one', async () => {
    const body = json({ model: 'gpt-4o-mini', max_tokens: 5 });
    const response = await send('/openai/v1/blocked', { body, headers: { cookie: 'a=bob@example.com' } });
    expect([response.status, response.head.toString()]).toEqual([200, body.toString()]);
    expect(lastAtProvider().headers['cookie']).toBeUndefined();
    expect((await gateway.newest(count)).metadata).toMatchObject({ redaction_mode: 'block' });
  });
});

describe('the audit', () => {
  // This creates its tables.
  beforeAll(async () => void (await gateway.get('/api/gateway-keys')));

  test.each<[string, string, RawRequest, Record<string, string>]>([
    ['a finding', '/openai/v1/blocked', { body: json(PRIVATE) }, { reason: 'pii_detected', target: 'POST /openai/v1/blocked' }],
    [
      'a finding in the path, without it',
      '/openai/v1/blocked/bob@example.com?email=bob',
      {},
      { reason: 'pii_detected', target: 'POST /openai/v1/blocked/[EMAIL]' },
    ],
    [
      'what cannot be looked into',
      '/openai/v1/files',
      { body: Buffer.from('x'), headers: { 'content-encoding': 'br' } },
      { reason: 'pii_uninspectable', target: 'POST /openai/v1/files' },
    ],
  ])('records %s', async (_, path, request, expected) => {
    const id = `audit-${expected['reason']}-${path.length}`;
    await send(path, { ...request, headers: { ...request.headers, 'x-request-id': id } });
    const rows = await waitUntil(async () => atLeastOne(auditOf(id)), { what: 'the audit event' });
    expect(rows).toEqual([expect.objectContaining({ actor: '', action: 'request', outcome: 'deny', ...expected })]);
    expect(JSON.stringify([rows, gateway.log])).not.toMatch(/bob@/);
  });
});

test('the audit of a refused key change hides invalid ids', async () => {
  const headers = { 'x-request-id': 'audit-of-a-change' };
  expect((await rawExchange(`${gateway.url}/api/gateway-keys/bob@example.com`, { method: 'DELETE', headers })).status).toBe(404);
  const rows = await waitUntil(async () => atLeastOne(auditOf('audit-of-a-change')), { what: 'the audit event' });
  expect(rows).toEqual([expect.objectContaining({ action: 'gateway_key.revoke', target: '[EMAIL]', outcome: 'deny' })]);
  expect(gateway.log.join('')).not.toContain('bob@');
});

test('no body is held and no trace was dropped at the end', async () => {
  const { diagnostics } = (await gateway.get('/api/diagnostics/trace-pipeline')) as { diagnostics: Record<string, number> };
  expect(diagnostics).toMatchObject({ body_bytes_held: 0, total_dropped_total: 0 });
});
