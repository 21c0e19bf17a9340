import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TraceDetail, TracePage } from '@vitrine/traces/trace';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import OpenAI from 'openai';
import { rawExchange, type RawResponse } from '../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const token = (name: string) => `${name}-token-0123456789-0123456789`;
const key = (id: string, more = '') => `{id: ${id}, token: ${token(id)}, org_id: acme, workspace_id: search${more}}`;
const AUTH = `auth: {enabled: true, keys: [${key('one')}, ${key('two')}, ${key('big', ', plan: big')}]}
plans: {big: {per_key: {requests_per_minute: 3}}}`;
const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] };
const CHAT = Buffer.from(JSON.stringify(chat));
const STREAM = Buffer.from(JSON.stringify({ ...chat, stream: true, stream_options: { include_usage: true } }));

function start(limits: string, clocks = { clock: Date.now, steadyClock: () => performance.now() }): Promise<TestGateway> {
  return startTestGateway({}, `${AUTH}\n${limits}`, clocks);
}

function call(gateway: TestGateway, by = 'one', body = CHAT): Promise<RawResponse> {
  const headers = { 'x-svc-gateway-key': token(by), authorization: 'Bearer sk-canary', 'content-type': 'application/json' };
  return rawExchange(`${gateway.url}/openai/v1/chat/completions`, { headers, body });
}

async function get(gateway: TestGateway, path: string): Promise<unknown> {
  return (await fetch(gateway.url + path, { headers: { 'x-svc-gateway-key': token('one') } })).json();
}

/** The newest trace in full, once there are `count` of that status. */
async function newest(gateway: TestGateway, status: number, count: number): Promise<TraceDetail> {
  const page = await waitUntil(
    async () => {
      const { items } = (await get(gateway, `/api/traces?limit=200&status=${status}`)) as TracePage;
      return items.length >= count && items;
    },
    { what: `${count} traces of status ${status}` },
  );
  return (await get(gateway, `/api/traces/${page[0]?.id}`)) as TraceDetail;
}

const json = ({ head }: RawResponse) => JSON.parse(head.toString()) as Record<string, unknown>;
const headerOf = ({ rawHeaders }: RawResponse, name: string) => {
  const at = rawHeaders.findIndex((other, i) => i % 2 === 0 && other.toLowerCase() === name);
  return at === -1 ? undefined : rawHeaders[at + 1];
};
const count = (responses: readonly RawResponse[], status: number) =>
  responses.filter((response) => response.status === status).length;

test('keys and daily limits have no worker thread of their own', async () => {
  let threads = 0;
  const count = () => void (threads += 1);
  subscribe('worker_threads', count);
  try {
    await using gateway = await start('limits: {per_key: {max_tokens_per_day: 30}}');
    expect((await call(gateway)).status).toBe(200);
    await get(gateway, '/api/gateway-keys');
    expect(threads).toBe(1);
    await newest(gateway, 200, 1);
    expect(threads).toBe(2);
  } finally {
    unsubscribe('worker_threads', count);
  }
});

describe('request rates over HTTP', () => {
  test('of 1,000 requests at once exactly 100 reach the provider', async () => {
    await using gateway = await start('limits: {per_key: {requests_per_minute: 100}}');
    const responses = await Promise.all(Array.from({ length: 1_000 }, () => call(gateway)));
    expect([count(responses, 200), count(responses, 429), gateway.openai.exchanges]).toEqual([100, 900, 100]);
    expect((await call(gateway, 'two')).status).toBe(200);
  });

  test('a rejection says when to retry, and leaves a trace of its caller', async () => {
    const time = { steady: 5_000 };
    const clocks = { clock: Date.now, steadyClock: () => time.steady };
    await using gateway = await start(
      'limits: {per_key: {requests_per_minute: 1}, per_workspace: {requests_per_minute: 2}}',
      clocks,
    );
    expect((await call(gateway)).status).toBe(200);
    time.steady += 29_500;
    const response = await call(gateway);
    expect(response.status).toBe(429);
    expect(json(response)).toEqual({
      error: 'request rate limit exceeded for key',
      code: 'KEY_RATE_LIMIT_EXCEEDED',
      retry_after_seconds: 31,
    });
    expect(headerOf(response, 'retry-after')).toBe('31');
    expect(headerOf(response, 'x-svc-correlation-id')).toMatch(/^corr-/);
    expect(await newest(gateway, 429, 1)).toMatchObject({
      outcome: 'rejected',
      total_tokens: 0,
      metadata: { org_id: 'acme', workspace_id: 'search', gateway_key_id: 'one' },
    });

    expect((await call(gateway, 'two')).status).toBe(200);
    expect(json(await call(gateway, 'big'))).toMatchObject({ code: 'WORKSPACE_RATE_LIMIT_EXCEEDED' });
    time.steady += 30_500;
    expect((await call(gateway)).status).toBe(200);
  });

  test("a key's plan replaces the configured limits, and other tenants' limits are their own", async () => {
    await using gateway = await start('limits: {per_key: {requests_per_minute: 1}}');
    const responses = await Promise.all(['one', 'one', 'big', 'big', 'big', 'big'].map((by) => call(gateway, by)));
    expect(responses.map(({ status }) => status)).toEqual([200, 429, 200, 200, 200, 429]);
  });

  test('a key with a plan that does not exist gets an error that names the plan, and nothing reaches the provider', async () => {
    await using folder = await temporaryFolder('plans');
    const auth = `auth: {enabled: true, keys: [${key('one', ', plan: gone')}]}`;
    await using gateway = await startTestGateway({ SVC_LIMITS_PLANS_DIR: folder.path }, auth);
    const response = await call(gateway);
    const error = 'gateway usage limit check unavailable: there is no plan "gone"';
    expect([response.status, json(response)]).toEqual([503, { error, code: 'UNKNOWN_PLAN', plan: 'gone' }]);
    expect([headerOf(response, 'x-should-retry'), gateway.openai.exchanges]).toEqual(['false', 0]);
  });

  test('only the provider routes are limited, and none while authentication is off', async () => {
    await using gateway = await start('limits: {per_key: {requests_per_minute: 1}}');
    await call(gateway);
    for (let i = 0; i < 3; i += 1) expect(await get(gateway, '/api/traces')).toHaveProperty('items');

    await using open = await startTestGateway({ SVC_LIMITS_PER_KEY_REQUESTS_PER_MINUTE: '1' });
    const responses = await Promise.all([1, 2, 3].map(() => call(open)));
    expect(count(responses, 200)).toBe(3);
    expect(open.log.join('')).toContain('limits have no effect while auth.enabled is false');
  });
});

describe('daily quotas over HTTP', () => {
  /** The tokens of one exchange of `call`: 8 + 1 words in, 3 + 5 out. */
  const TOKENS = 17;

  test('sequential requests are rejected as soon as the quota is used up', async () => {
    await using gateway = await start(`limits: {per_key: {max_tokens_per_day: ${10 * TOKENS}}}`);
    const statuses: number[] = [];
    for (let i = 0; i < 12; i += 1) statuses.push((await call(gateway)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429, 429]);
    const response = await call(gateway);
    expect(json(response)).toEqual({ error: 'daily token limit exceeded for key', code: 'KEY_DAILY_TOKENS_EXCEEDED' });
    expect(headerOf(response, 'retry-after')).toBeUndefined();
    expect(headerOf(response, 'x-should-retry')).toBe('false');
    expect(headerOf(response, 'x-svc-quota-resets-at')).toMatch(/T00:00:00Z$/);
    expect((await call(gateway, 'two')).status).toBe(200);
  });

  test('64 clients with one stream each exceed the quota by at most the requests in flight', async () => {
    const limit = 300;
    await using gateway = await start(`limits: {per_workspace: {max_tokens_per_day: ${limit * TOKENS}}}`);
    const codes = new Set<unknown>();
    const client = async () => {
      for (;;) {
        const response = await call(gateway, 'one', STREAM);
        if (response.status !== 200) return codes.add(json(response)['code']);
      }
    };
    await Promise.all(Array.from({ length: 64 }, client));
    expect([...codes]).toEqual(['WORKSPACE_DAILY_TOKENS_EXCEEDED']);
    expect(gateway.openai.exchanges).toBeGreaterThanOrEqual(limit);
    expect(gateway.openai.exchanges).toBeLessThan(limit + 64);
  });

  test('cost is counted like tokens, and usage survives a restart', async () => {
    await using folder = await temporaryFolder('limits');
    const variables = { SVC_STORAGE_PATH: join(folder.path, 'traces.db') };
    const text = `${AUTH}\nlimits: {per_workspace: {max_cost_usd_per_day: 0.00001}}`;
    {
      await using gateway = await startTestGateway(variables, text);
      await waitUntil(async () => (await call(gateway)).status === 429, { what: 'a rejection' });
    }
    await using gateway = await startTestGateway(variables, text);
    expect(json(await call(gateway, 'two'))).toMatchObject({ code: 'WORKSPACE_DAILY_COST_EXCEEDED' });
  });

  test('when the store has not responded for 15 s daily limits are unavailable, and rates still apply', async () => {
    const time = { steady: 0 };
    const clocks = { clock: Date.now, steadyClock: () => time.steady };
    const limits = 'limits: {per_key: {max_tokens_per_day: 1000}}';
    await using gateway = await start(limits, clocks);
    expect((await call(gateway)).status).toBe(200);
    using database = new DatabaseSync(join(gateway.folder, 'traces.db'), { timeout: 5_000 });
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all();
    for (const { name } of tables) database.exec(`ALTER TABLE ${String(name)} RENAME TO gone_${String(name)}`);
    time.steady = 15_001;
    const response = await call(gateway);
    expect(response.status).toBe(503);
    expect(json(response)).toEqual({ error: 'gateway usage limit check unavailable' });
    expect((await call(gateway, 'big')).status).toBe(200);
    expect(gateway.openai.exchanges).toBe(2);
  });

  test('the official SDKs do not retry', async () => {
    await using gateway = await start('limits: {per_key: {max_tokens_per_day: 1}}');
    const defaultHeaders = { 'x-svc-gateway-key': token('one') };
    const openai = new OpenAI({ baseURL: `${gateway.url}/openai/v1`, apiKey: 'sk-canary', defaultHeaders });
    const anthropic = new Anthropic({ baseURL: `${gateway.url}/anthropic`, apiKey: 'sk-ant-canary', defaultHeaders });
    const messages = [{ role: 'user' as const, content: 'hi' }];
    await openai.chat.completions.create({ model: 'gpt-4o-mini', messages });
    await expect(openai.chat.completions.create({ model: 'gpt-4o-mini', messages })).rejects.toMatchObject({ status: 429 });
    const again = anthropic.messages.create({ model: 'claude-sonnet-5', max_tokens: 9, messages });
    await expect(again).rejects.toMatchObject({ status: 429 });
    await newest(gateway, 429, 2);
    const { items } = (await get(gateway, '/api/traces')) as TracePage;
    expect(items.map(({ response_status: status }) => status)).toEqual([429, 429, 200]);
  });
});
