import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCaptured } from '@vitrine/command-line/testing/run-captured';
import type { TraceSummary } from '@vitrine/traces/trace';
import { usageReport, type UsageReport } from '../report/usage-report.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';
import { gatewayCommandLine } from '../registry.ts';

let gateway: TestGateway;
let traces: TraceSummary[];
beforeAll(async () => {
  gateway = await startTestGateway();
  const send = (provider: string, path: string, model: string, credential: string) =>
    fetch(`${gateway.url}/${provider}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Say hello' }] }),
    }).then((response) => response.text());
  await send('openai', '/v1/chat/completions', 'gpt-4o-mini', 'sk-one-0123456789');
  await send('openai', '/v1/chat/completions', 'gpt-4o-mini', 'sk-two-0123456789');
  await send('openai', '/v1/chat/completions', 'gpt-4o', 'sk-one-0123456789');
  await send('anthropic', '/v1/messages', 'claude-sonnet-5', 'sk-one-0123456789');
  traces = await gateway.traces(4);
});
afterAll(async () => gateway[Symbol.asyncDispose]());

const run = (...args: string[]) => runCaptured(gatewayCommandLine, ['report', ...args], { env: gateway.storage.variables });
const reportOf = async (...args: string[]): Promise<UsageReport> =>
  usageReport.parse(JSON.parse((await run(...args, '--format', 'json')).stdout));
type Summed = 'total_tokens' | 'input_tokens' | 'output_tokens' | 'estimated_cost_usd' | 'cost_upper_usd';
const sum = (field: Summed, of = traces) => of.reduce((total, trace) => total + (trace[field] ?? Number.NaN), 0);

describe('gateway report', () => {
  test('sums up the traces', async () => {
    const report = await reportOf();
    expect(report.summary).toEqual({
      total_requests: 4,
      total_input_tokens: sum('input_tokens'),
      total_output_tokens: sum('output_tokens'),
      total_tokens: sum('total_tokens'),
      total_cost_usd: expect.closeTo(sum('estimated_cost_usd'), 10),
      total_cost_upper_usd: expect.closeTo(sum('cost_upper_usd'), 10),
      unpriced_requests: 0,
      estimated_requests: 0,
      missing_usage_requests: 0,
      active_keys: 2,
      top_model: 'gpt-4o-mini',
    });
    expect(report.storage).toEqual({ driver: gateway.storage.driver, path: gateway.storage.place });
    expect(report.filters).toEqual({ limit: 10 });
    expect(report.models.map(({ model, request_count }) => [model, request_count])).toEqual([
      ['gpt-4o-mini', 2],
      ['claude-sonnet-5', 1],
      ['gpt-4o', 1],
    ]);
    expect(report.api_keys.map(({ request_count }) => request_count)).toEqual([3, 1]);
    const openai = traces.filter(({ provider }) => provider === 'openai');
    expect(report.providers).toHaveLength(2);
    expect(report.providers).toContainEqual(
      expect.objectContaining({ provider: 'openai', total_tokens: sum('total_tokens', openai) }),
    );
    expect(report.providers.map(({ total_tokens }) => total_tokens)).toEqual(
      report.providers.map(({ total_tokens }) => total_tokens).toSorted((a, b) => b - a),
    );
    expect(report.recent_traces.map(({ id }) => id)).toEqual(traces.map(({ id }) => id));
  });

  test.each([
    [['--provider', 'anthropic'], 1, { provider: 'anthropic' }],
    [['--model', 'gpt-4o-mini'], 2, { model: 'gpt-4o-mini' }],
    [['--from', '2099-01-01'], 0, { from: '2099-01-01T00:00:00.000Z' }],
    [['--to', '2020-01-01'], 0, { to: '2020-01-01T23:59:59.999Z' }],
  ])('%j counts %i', async (args, requests, filters) => {
    const report = await reportOf(...args);
    expect([report.summary.total_requests, report.recent_traces.length, report.filters]).toEqual([
      requests,
      requests,
      { ...filters, limit: 10 },
    ]);
  });

  test('--limit bounds the traces that are listed, not those that are counted', async () => {
    const report = await reportOf('--limit', '1');
    expect([report.summary.total_requests, report.recent_traces.length]).toEqual([4, 1]);
  });

  test('prints tables as text', async () => {
    const { code, stdout } = await run('--provider', 'openai');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage in \S+ \(provider openai\)\n\nrequests 3, tokens \d+ /);
    expect(stdout).toMatch(/^gpt-4o-mini +2 +\d+ ms +- +\d+ +\d\.\d{6} +\d\.\d{6} +0 +0 +0$/m);
    expect(stdout).not.toContain('anthropic');
  });

  test.each([
    [['--limit', '201'], '--limit must be a whole number from 1 to 200'],
    [['--from', 'yesterday'], 'invalid from: expected RFC3339 or YYYY-MM-DD'],
    [['--from', '2026-01-02', '--to', '2026-01-01'], 'to must be greater than or equal to from'],
    [['--format', 'xml'], '--format must be text or json'],
  ])('%j is a usage error', async (args, message) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});
