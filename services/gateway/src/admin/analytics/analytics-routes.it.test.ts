import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as shapes from '@vitrine/traces/analytics-shapes';
import type { TraceSummary } from '@vitrine/traces/trace';
import { z } from 'zod';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const NOT_COMPARABLE = 'compare needs from and to, and a period before them that does not begin before 1970';

let gateway: TestGateway;
let traces: TraceSummary[];
beforeAll(async () => {
  gateway = await startTestGateway();
  const send = (provider: string, path: string, credential: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/${provider}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ max_tokens: 9, messages: [{ role: 'user', content: 'word' }], ...body }),
    }).then((response) => response.text());
  for (let i = 0; i < 3; i += 1) await send('openai', '/v1/chat/completions', 'sk-one-0123456789', { model: 'gpt-4o-mini' });
  await send('openai', '/v1/chat/completions', 'sk-two-0123456789', { model: 'gpt-4o-mini', stream: true });
  await send('openai', '/v1/chat/completions', 'sk-two-0123456789', { model: 'gpt-4o' }, { 'x-mock-scenario': 'status=429' });
  await send('openai', '/v1/chat/completions', 'sk-two-0123456789', { model: 'gpt-4o' }, { 'x-mock-scenario': 'status=500' });
  await send('anthropic', '/v1/messages', 'sk-ant-0123456789', { model: 'claude-sonnet-5' });
  traces = await gateway.traces(7);
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const ask = async <S extends z.ZodType>(shape: S, path: string): Promise<z.infer<S>> =>
  shape.parse(await gateway.get(`/api/analytics/${path}`));
const sum = (of: readonly TraceSummary[], value: (trace: TraceSummary) => number) =>
  of.reduce((total, trace) => total + value(trace), 0);
const day = () => `${traces[0]?.timestamp.slice(0, 10)}T00:00:00.000Z`;

describe('GET /api/analytics', () => {
  test('usage and cost are totals, or a series when a group or a bucket is requested', async () => {
    expect(await ask(shapes.usageTotals, 'usage')).toEqual({
      total_input_tokens: sum(traces, (one) => one.input_tokens),
      total_output_tokens: sum(traces, (one) => one.output_tokens),
      total_tokens: sum(traces, (one) => one.total_tokens),
      unpriced_requests: 0,
      estimated_requests: 1,
      missing_usage_requests: 0,
    });
    const byProvider = await ask(shapes.usageSeries, 'usage?group_by=provider');
    expect([byProvider.group_by, byProvider.bucket]).toEqual(['provider', 'day']);
    expect(byProvider.items.map(({ bucket_start: start, group }) => [start, group])).toEqual([
      [day(), 'anthropic'],
      [day(), 'openai'],
    ]);
    const cost = sum(traces, (one) => one.estimated_cost_usd);
    const costs = await ask(shapes.costTotals, 'cost');
    expect(costs.total_cost_usd).toBeCloseTo(cost, 12);
    expect(costs.total_cost_upper_usd).toBeCloseTo(
      sum(traces, (one) => one.cost_upper_usd ?? Number.NaN),
      12,
    );
    const byWeek = await ask(shapes.costSeries, 'cost?bucket=week');
    expect(byWeek).toMatchObject({ bucket: 'week', items: [{ request_count: 7 }] });
    expect(byWeek.items[0]?.avg_cost_usd).toBeCloseTo(cost / 7, 12);
    expect(new Date(byWeek.items[0]?.bucket_start ?? 0).getUTCDay()).toBe(1);
    expect(byWeek).not.toHaveProperty('group_by');
    expect(byWeek.items[0]).not.toHaveProperty('group');
  });

  test('models are listed most used first, with time to first token over streams only', async () => {
    const { items } = await ask(shapes.modelRows, 'models');
    expect(items.map(({ model, request_count: count }) => [model, count])).toEqual([
      ['gpt-4o-mini', 4],
      ['gpt-4o', 2],
      ['claude-sonnet-5', 1],
    ]);
    const stream = traces.find((one) => one.time_to_first_token_us > 0);
    expect(items[0]?.avg_ttft_ms).toBeCloseTo((stream?.time_to_first_token_us ?? Number.NaN) / 1_000, 9);
    expect(items[2]?.avg_ttft_ms).toBe(0);
  });

  test('keys are provider credentials with the time of their last use', async () => {
    const { items } = await ask(shapes.keyRows, 'keys');
    expect(items.map(({ request_count: count }) => count)).toEqual([3, 3, 1]);
    for (const { api_key_hash: hash, last_active_at: last } of items)
      expect(last).toBe(traces.find((one) => one.api_key_hash === hash)?.timestamp);
  });

  test('latency and errors are broken down by the requested dimension', async () => {
    const [whole] = (await ask(shapes.latencyRows, 'latency')).items;
    const latencies = traces.map((one) => one.latency_ms);
    expect(whole).toMatchObject({ request_count: 7, min_ms: Math.min(...latencies), max_ms: Math.max(...latencies) });
    expect(whole).not.toHaveProperty('group');
    const byRoute = await ask(shapes.latencyRows, 'latency?group_by=route');
    expect([byRoute.group_by, ...byRoute.items.map(({ group }) => group)]).toEqual(['route', '/anthropic/*', '/openai/*']);
    expect((await ask(shapes.errorRows, 'errors?group_by=model')).items).toMatchObject([
      { group: 'gpt-4o-mini', total_requests: 4, error_count_4xx: 0, error_count_5xx: 0, error_rate: 0 },
      { group: 'gpt-4o', total_requests: 2, error_count_4xx: 1, error_count_5xx: 1, error_rate: 1 },
      { group: 'claude-sonnet-5', total_requests: 1, error_count_4xx: 0, error_count_5xx: 0, error_rate: 0 },
    ]);
    // Without authentication no exchange has a gateway key.
    expect((await ask(shapes.errorRows, 'errors?group_by=key')).items).toMatchObject([{ group: '', total_requests: 7 }]);
  });

  // Spec: G7.4.
  test('latency and errors are a series when a bucket is requested, ordered by bucket, then by group', async () => {
    const latency = await ask(shapes.latencyRows, 'latency?bucket=day');
    expect(latency).toMatchObject({ bucket: 'day', items: [{ bucket_start: day(), request_count: 7 }] });
    const errors = await ask(shapes.errorRows, 'errors?bucket=hour&group_by=model');
    expect([errors.group_by, errors.bucket]).toEqual(['model', 'hour']);
    expect(errors.items.map(({ group, total_requests: total, error_rate: rate }) => [group, total, rate])).toEqual([
      ['claude-sonnet-5', 1, 0],
      ['gpt-4o', 2, 1],
      ['gpt-4o-mini', 4, 0],
    ]);
    for (const { bucket_start: start } of errors.items) expect(start).toMatch(/T\d\d:00:00.000Z$/);
    for (const path of ['latency', 'errors?group_by=model']) {
      const whole = (await gateway.get(`/api/analytics/${path}`)) as { items: object[] };
      expect(JSON.stringify(whole)).not.toContain('bucket');
    }
  });

  // Spec: G7.21.
  describe('compare=previous', () => {
    const [today, yesterday] = [() => day().slice(0, 10), () => new Date(Date.parse(day()) - 1).toISOString().slice(0, 10)];
    const tomorrow = () => new Date(Date.parse(day()) + 86_400_000).toISOString().slice(0, 10);

    test.each([
      'usage',
      'usage?bucket=hour',
      'cost',
      'cost?group_by=key',
      'models',
      'keys',
      'latency',
      'latency?bucket=day&group_by=route',
      'errors?group_by=model',
      'errors?bucket=hour',
      'summary',
    ])('adds to %s the response for the period before', async (path) => {
      const rangeOf = (from: string, to: string) => `${path}${path.includes('?') ? '&' : '?'}from=${from}&to=${to}`;
      const get = (range: string) => gateway.get(`/api/analytics/${range}`) as Promise<object>;
      for (const [from, before] of [
        [today(), yesterday()],
        [tomorrow(), today()],
      ] as const) {
        const previous = {
          from: `${before}T00:00:00.000Z`,
          to: `${before}T23:59:59.999Z`,
          ...(await get(rangeOf(before, before))),
        };
        const compared = await get(`${rangeOf(from, from)}&compare=previous`);
        expect(compared).toEqual({ ...(await get(rangeOf(from, from))), previous });
      }
    });

    test('ends where the period begins, and is as long', async () => {
      const { previous } = await ask(
        shapes.usageTotals,
        'usage?from=2026-01-05T10:00:00.250Z&to=2026-01-05T10:00:01.249Z&compare=previous',
      );
      expect(previous).toMatchObject({ from: '2026-01-05T09:59:59.250Z', to: '2026-01-05T10:00:00.249Z' });
    });
  });

  describe('group_by and group', () => {
    type Grouped = { group_by?: string; items: object[] };
    const groupings = [
      ...['usage', 'cost'].flatMap((endpoint) => ['provider', 'model', 'key'].map((group) => [endpoint, group] as const)),
      ...['latency', 'errors'].flatMap((endpoint) =>
        ['provider', 'model', 'route', 'key'].map((group) => [endpoint, group] as const),
      ),
    ];

    test.each(groupings)(
      'of %s by %s are in the response and in every row, also where a name is empty',
      async (endpoint, group) => {
        for (const range of ['', '&from=2099-01-01', '&bucket=hour']) {
          const response = (await gateway.get(`/api/analytics/${endpoint}?group_by=${group}${range}`)) as Grouped;
          expect(response.group_by).toBe(group);
          expect(response.items.length > 0).toBe(!range.includes('2099'));
          for (const item of response.items) expect(item).toMatchObject({ group: expect.any(String) });
        }
      },
    );

    test.each([
      ['usage?bucket=day'],
      ['usage?bucket=hour&group_by='],
      ['cost?bucket=week'],
      ['latency'],
      ['latency?group_by='],
      ['errors'],
      ['errors?model=gpt-4o'],
      ['latency?bucket=day'],
      ['errors?bucket=week'],
    ])('are absent from %s, which has no groups', async (path) => {
      const response = (await gateway.get(`/api/analytics/${path}`)) as Grouped;
      expect(response).not.toHaveProperty('group_by');
      expect(response.items).toHaveLength(1);
      for (const item of response.items) expect(item).not.toHaveProperty('group');
    });
  });

  test('summary has the seven fields, without a top model when there are no traces', async () => {
    const whole = await ask(shapes.summary, 'summary');
    expect(whole).toMatchObject({ total_requests: 7, active_keys: 3, top_model: 'gpt-4o-mini' });
    expect(await ask(shapes.summary, 'summary?model=none')).toEqual({
      total_requests: 0,
      total_input_tokens: 0,
      total_output_tokens: 0,
      total_tokens: 0,
      total_cost_usd: 0,
      total_cost_upper_usd: 0,
      unpriced_requests: 0,
      estimated_requests: 0,
      missing_usage_requests: 0,
      active_keys: 0,
    });
  });

  test('provider, model, from and to narrow every endpoint', async () => {
    const first = traces.at(-1)?.timestamp ?? '';
    expect((await ask(shapes.summary, 'summary?provider=anthropic')).total_requests).toBe(1);
    expect((await ask(shapes.modelRows, 'models?model=gpt-4o')).items).toHaveLength(1);
    expect((await ask(shapes.errorRows, `errors?to=${first}`)).items).toMatchObject([{ total_requests: 1 }]);
    expect((await ask(shapes.keyRows, 'keys?to=2020-01-01')).items).toEqual([]);
    expect((await ask(shapes.latencyRows, 'latency?from=2020-01-01')).items).toMatchObject([{ request_count: 7 }]);
  });

  test.each([
    ['usage?group_by=route', 'invalid group_by: "route"'],
    ['cost?bucket=month', 'invalid bucket: "month"'],
    ['latency?group_by=api_key_hash', 'invalid group_by: "api_key_hash"'],
    ['errors?bucket=month', 'invalid bucket: "month"'],
    ['keys?compare=next', 'invalid compare: "next"'],
    ['cost?compare=previous', NOT_COMPARABLE],
    ['latency?compare=previous&from=2026-01-01', NOT_COMPARABLE],
    ['models?compare=previous&from=1990-01-01&to=2026-01-01', NOT_COMPARABLE],
    ['models?from=yesterday', 'invalid from: expected RFC3339 or YYYY-MM-DD'],
    ['summary?from=2026-01-02&to=2026-01-01', 'to must be greater than or equal to from'],
  ])('%s is 400: %s', async (path, error) => {
    const response = await fetch(`${gateway.url}/api/analytics/${path}`);
    expect([response.status, await response.json()]).toEqual([400, { error }]);
  });

  test.each(['usage', 'cost', 'models', 'keys', 'latency', 'errors', 'summary'])('POST %s is 405 with Allow', async (path) => {
    const response = await fetch(`${gateway.url}/api/analytics/${path}`, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});
