import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tracePage, traceDetail, type TraceDetail, type TracePage } from '@vitrine/traces/trace';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { rawTalk } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  const send = (provider: string, path: string, model: string, headers: Record<string, string> = {}, words = 1) =>
    fetch(`${gateway.url}/${provider}${path}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer sk-one-0123456789',
        'x-api-key': 'sk-two-0123456789',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'word '.repeat(words) }] }),
    }).then((response) => response.text());
  for (let i = 0; i < 5; i += 1)
    await send('openai', '/v1/chat/completions', 'gpt-4o-mini', { 'x-svc-thread-id': 'thread-1', 'x-svc-run-id': `run-${i}` });
  await send('openai', '/v1/chat/completions', 'gpt-4o', { 'x-svc-trace-group-id': 'group-1' }, 500);
  await send('openai', '/v1/chat/completions', 'gpt-4o', { 'x-mock-scenario': 'status=429' });
  await send('anthropic', '/v1/messages', 'claude-sonnet-5', { authorization: 'Bearer sk-three-012345' });
  await gateway.traces(8);
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const list = async (query: string) => tracePage.parse(await gateway.get(`/api/traces?${query}`));

describe('GET /api/traces', () => {
  test('newest first, in the shape of the specification', async () => {
    const { items, next_cursor: next } = await list('');
    expect(items.map(({ model }) => model)).toEqual([
      'claude-sonnet-5',
      'gpt-4o',
      'gpt-4o',
      ...Array<string>(5).fill('gpt-4o-mini'),
    ]);
    expect(items.map(({ created_at: at }) => at)).toEqual(
      items
        .map(({ created_at: at }) => at)
        .toSorted()
        .toReversed(),
    );
    expect(next).toBeUndefined();
  });

  test('pages by cursor without a gap or a repetition, and the last page has no cursor', async () => {
    const whole = await list('');
    const seen: TracePage['items'] = [];
    let cursor = '';
    for (let pages = 0; pages < 10; pages += 1) {
      const page = await list(`limit=3${cursor}`);
      seen.push(...page.items);
      if (page.next_cursor === undefined) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(seen).toEqual(whole.items);
  });

  const today = new Date().toISOString().slice(0, 10);
  test.each([
    ['provider=anthropic', 1],
    ['provider=Anthropic', 0],
    ['model=gpt-4o', 2],
    ['model=gpt-4o-', 0],
    ['thread_id=thread-1', 5],
    ['run_id=run-3', 1],
    ['trace_group_id=group-1', 1],
    ['status=429', 1],
    ['status=200&provider=openai', 6],
    ['min_tokens=400', 1],
    ['max_tokens=400&min_tokens=1', 6],
    ['max_tokens=0', 1],
    [`from=${today}`, 8],
    [`to=${today}`, 8],
    ['to=2020-01-01', 0],
    ['from=2099-01-01', 0],
    [`from=2020-01-01T00:00:00Z&to=2099-01-01T00:00:00%2B02:00`, 8],
    ['api_key_hash=00', 0],
    ['provider=', 8],
  ])('%s returns %i traces', async (query, found) => {
    expect((await list(query)).items).toHaveLength(found);
  });

  test('filters by the hash of the provider credential', async () => {
    const [newest] = (await list('limit=1')).items;
    expect((await list(`api_key_hash=${newest?.api_key_hash}`)).items).toHaveLength(1);
  });

  test('both ends of a time range are inclusive on timestamp', async () => {
    const { items } = await list('');
    const at = items[3]?.timestamp ?? '';
    const inside = (await list(`from=${at}&to=${at}`)).items.map(({ timestamp }) => timestamp);
    expect(inside).toEqual(items.map(({ timestamp }) => timestamp).filter((timestamp) => timestamp === at));
  });

  test('a bad parameter is 400 JSON naming it', async () => {
    const response = await fetch(`${gateway.url}/api/traces?status=abc`);
    expect([response.status, await response.json()]).toEqual([400, { error: 'status must be an integer' }]);
  });
});

describe('GET /api/traces/:id', () => {
  test('returns the full trace, without bodies when capture is off', async () => {
    const [newest] = (await list('limit=1')).items;
    const detail: TraceDetail = traceDetail.parse(await gateway.get(`/api/traces/${newest?.id}`));
    expect(detail).toMatchObject({ ...newest, metadata: { org_id: 'default', workspace_id: 'default', redaction_mode: 'off' } });
    expect(detail.request_headers['authorization']).toEqual(['[REDACTED]']);
    expect(detail.response_headers['content-type']).toEqual(['application/json']);
    expect(detail).not.toHaveProperty('request_body');
  });

  test.each(['0'.repeat(32), 'nonsense', '%27', 'A'.repeat(32)])('%s is 404 trace not found', async (id) => {
    const response = await fetch(`${gateway.url}/api/traces/${id}`);
    expect([response.status, await response.json()]).toEqual([404, { error: 'trace not found' }]);
  });
});

describe('the service', () => {
  test('GET / and GET /api/health', async () => {
    expect(await gateway.get('/')).toEqual({
      name: 'svc-gateway',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      status: 'ok',
    });
    // On Postgres the number of traces is read in intervals.
    const health = await waitUntil(
      async () => {
        const found = (await gateway.get('/api/health')) as { readonly trace_count: number };
        return found.trace_count > 0 && found;
      },
      { what: 'a number of traces' },
    );
    expect(health).toEqual({
      status: 'ok',
      version: expect.any(String),
      uptime_sec: expect.any(Number),
      storage_driver: gateway.storage.driver,
      trace_count: 8,
      ...(gateway.storage.driver === 'sqlite' ? { db_size_bytes: expect.any(Number) } : {}),
    });
  });

  test('diagnostics contain every field of the specification', async () => {
    expect(await gateway.get('/api/diagnostics/trace-pipeline')).toMatchObject({
      schema_version: 'trace-pipeline-diagnostics.v1',
      generated_at: expect.stringMatching(/Z$/),
      diagnostics: {
        queue_capacity: 4096,
        queue_depth: 0,
        queue_depth_high_watermark: expect.any(Number),
        queue_utilization_pct: 0,
        queue_high_watermark_utilization_pct: 0,
        queue_pressure_state: 'ok',
        queue_high_watermark_pressure_state: 'ok',
        enqueue_accepted_total: 8,
        enqueue_dropped_total: 0,
        write_dropped_total: 0,
        total_dropped_total: 0,
        store_driver: gateway.storage.driver,
      },
    });
  });
});

describe('the edge', () => {
  test.each(['/api/traces', '/api/traces/x', '/api/health', '/api/diagnostics/trace-pipeline', '/api/none'])(
    'OPTIONS %s is 204 with CORS',
    async (path) => {
      const response = await fetch(gateway.url + path, { method: 'OPTIONS' });
      expect(response.status).toBe(204);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-allow-methods')).toBe('GET, POST, DELETE, OPTIONS');
      expect(response.headers.get('access-control-allow-headers')).toBe(
        'Content-Type, Authorization, X-API-Key, X-Svc-Gateway-Key',
      );
    },
  );

  test.each([
    ['POST', '/api/traces', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/api/health', 'GET, HEAD, OPTIONS'],
    ['PUT', '/api/diagnostics/trace-pipeline', 'GET, HEAD, OPTIONS'],
    ['POST', '/', 'GET, HEAD'],
  ])('%s %s is 405 with Allow', async (method, path, allow) => {
    const response = await fetch(gateway.url + path, { method });
    expect([response.status, response.headers.get('allow'), await response.json()]).toEqual([
      405,
      allow,
      { error: 'method not allowed' },
    ]);
  });

  test.each(['/nowhere', '/API/health', '/openaiX/v1', '/api', '/api/none', '/api/traces/%ff'])(
    'GET %s is an error in JSON',
    async (path) => {
      const response = await fetch(gateway.url + path);
      expect([400, 404]).toContain(response.status);
      expect(await response.json()).toEqual({ error: expect.any(String) });
    },
  );

  test.each(['/', '/api/health', '/api/none', '/openai/v1/models', '/nowhere'])('%s carries a correlation id', async (path) => {
    const made = await fetch(gateway.url + path);
    expect(made.headers.get('x-svc-correlation-id')).toMatch(/^corr-[0-9a-f]{32}$/);
    const sent = await fetch(gateway.url + path, { headers: { 'x-request-id': 'mine-1' } });
    expect(sent.headers.get('x-svc-correlation-id')).toBe('mine-1');
    const bad = await fetch(gateway.url + path, { headers: { 'x-svc-correlation-id': 'a b' } });
    expect(bad.headers.get('x-svc-correlation-id')).toMatch(/^corr-/);
  });

  test.each([
    ['two Host headers', 'GET /openai/v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['two Host headers on the admin API', 'GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['an absolute-form target', 'GET http://evil.example/openai/v1 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a dot segment', 'GET /openai/../api/health HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an encoded dot segment', 'GET /openai/%2e%2e/api/health HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a backslash', 'GET /openai\\..\\api HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a double slash', 'GET /openai//v1 HTTP/1.1\r\nHost: a\r\n\r\n'],
    [
      'a length and chunks',
      'POST /openai/v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two lengths', 'POST /openai/v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
    ['an unknown transfer coding', 'POST /openai/v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n'],
    ['no Host', 'GET /openai/v1 HTTP/1.1\r\n\r\n'],
    ['no HTTP', 'hello\r\n\r\n'],
  ])('%s is 400 JSON', async (_, text) => {
    const response = await rawTalk(gateway.url, text, (so) => so.includes('"}'));
    expect(response).toMatch(/^HTTP\/1\.1 400 [\s\S]*X-Svc-Correlation-ID: \S+[\s\S]*\{"error":"[^"]+"\}$/);
  });

  test('100 KB of headers is 431 JSON', async () => {
    const response = await rawTalk(gateway.url, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`, (so) =>
      so.includes('"}'),
    );
    expect(response).toMatch(/^HTTP\/1\.1 431 [\s\S]*\{"error":"[^"]+"\}$/);
  });

  test('an unknown expectation is 417 JSON', async () => {
    const response = await rawTalk(gateway.url, 'GET / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 417 [\s\S]*\{"error":"[^"]+"\}$/);
  });

  test('CONNECT is 405 JSON', async () => {
    expect(await rawTalk(gateway.url, 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 405 [\s\S]*\r\nAllow: GET, HEAD, POST, DELETE, OPTIONS\r\n[\s\S]*"method not allowed"/,
    );
  });
});
