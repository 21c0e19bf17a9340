import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SCENARIO_HEADER } from '@vitrine/testkit/scenario';
import { waitUntil } from '@vitrine/testkit/wait-until';
import OpenAI from 'openai';
import { describeWithContainers } from './describe-with-containers.ts';
import { KEY_HEADER, startPipeline, untilKeyStatus, type RunningPipeline } from './pipeline.ts';
import type { RunningService } from './environment.ts';

const START_TIMEOUT_MS = 900_000;
const TEST_TIMEOUT_MS = 180_000;
/** From a response to its trace in the database. */
const WRITTEN_WITHIN_MS = 30_000;
const LAST_EXCHANGES = 60;
/** Less than a gateway waits for exchanges under way. */
const SLOW_MS = 2_000;
const MESSAGES = [{ role: 'user' as const, content: 'Say hello to all the nice people of Vienna today' }];

await describeWithContainers('two gateways, Kafka, two trace-writers and Postgres', () => {
  let pipeline: RunningPipeline;
  let first: RunningService;
  let second: RunningService;
  let ownerKey: string;
  let exchanges = 0;
  beforeAll(async () => {
    pipeline = await startPipeline({ onStep: () => {} });
    [first, second] = pipeline.gateways as [RunningService, RunningService];
    ownerKey = await pipeline.createOwnerKey();
  }, START_TIMEOUT_MS);
  afterAll(async () => pipeline[Symbol.asyncDispose]());

  const headersOf = (group: string) => ({ [KEY_HEADER]: ownerKey, 'X-Svc-Trace-Group-ID': group });
  const openai = ({ url }: RunningService, group: string) =>
    new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/openai/v1`, maxRetries: 0, defaultHeaders: headersOf(group) });
  const anthropic = ({ url }: RunningService, group: string) =>
    new Anthropic({ apiKey: 'sk-ant-test', baseURL: `${url}/anthropic`, maxRetries: 0, defaultHeaders: headersOf(group) });
  const lists = async ({ url }: RunningService, group: string) => {
    const response = await fetch(`${url}/api/traces?trace_group_id=${group}`, { headers: { [KEY_HEADER]: ownerKey } });
    return ((await response.json()) as { readonly items: readonly Record<string, unknown>[] }).items;
  };
  const untilWritten = () =>
    waitUntil(async () => (await pipeline.sql('SELECT count(*) FROM traces')) === String(exchanges), {
      what: `${exchanges} traces`,
      timeoutMs: WRITTEN_WITHIN_MS,
    });

  const gpt = { model: 'gpt-4o-2024-08-06', messages: MESSAGES };
  const claude = { model: 'claude-sonnet-5', max_tokens: 64, messages: MESSAGES };
  const streamOpenai = async (client: OpenAI, headers: Readonly<Record<string, string>> = {}) => {
    const request = { ...gpt, stream: true, stream_options: { include_usage: true } } as const;
    let total = 0;
    for await (const { usage } of await client.chat.completions.create(request, { headers }))
      total = usage?.total_tokens ?? total;
    return total;
  };
  /** By the trace group: an exchange of an SDK, which resolves with the tokens that the SDK reports. */
  const exchangesOf: Readonly<Record<string, (gateway: RunningService, group: string) => Promise<number>>> = {
    openai: async (...to) => totalOf(await openai(...to).chat.completions.create(gpt)),
    'openai-stream': (...to) => streamOpenai(openai(...to)),
    anthropic: async (...to) => totalOf(await anthropic(...to).messages.create(claude)),
    'anthropic-stream': async (...to) =>
      totalOf(
        await anthropic(...to)
          .messages.stream(claude)
          .finalMessage(),
      ),
  };

  test.each(Object.entries(exchangesOf))(
    'an exchange of an SDK (%s) is in Postgres once, and the other gateway shows it with usage and price',
    async (group, exchange) => {
      const totalTokens = await exchange(first, group);
      exchanges += 1;
      await untilWritten();
      const [trace, ...others] = await lists(second, group);
      expect(others).toEqual([]);
      expect(trace).toMatchObject({
        model: group.startsWith('openai') ? gpt.model : claude.model,
        response_status: 200,
        total_tokens: totalTokens,
      });
      expect(trace?.['estimated_cost_usd']).toBeGreaterThan(0);
      expect(await lists(first, group)).toEqual([trace]);
      expect(await pipeline.sql(`SELECT count(*) FROM traces WHERE trace_group_id = '${group}'`)).toBe('1');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a key that one gateway creates is accepted by the other, and refused by it when the first has revoked it',
    async () => {
      const headers = { [KEY_HEADER]: ownerKey };
      const body = JSON.stringify({ name: 'ci', role: 'viewer' });
      const created = await fetch(`${first.url}/api/gateway-keys`, { method: 'POST', headers, body });
      const { id, token } = (await created.json()) as { readonly id: string; readonly token: string };
      await untilKeyStatus(second.url, token, 200);
      expect((await fetch(`${first.url}/api/gateway-keys/${id}`, { method: 'DELETE', headers })).status).toBe(204);
      await untilKeyStatus(second.url, token, 401);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'SIGTERM of everything in order loses no trace, and every process ends with 0',
    async () => {
      const [leaving, staying] = pipeline.writers as [RunningService, RunningService];
      const sent = Array.from({ length: LAST_EXCHANGES }, (_, n) => {
        const client = openai(n % 2 === 0 ? first : second, 'last');
        const headers = { [SCENARIO_HEADER]: `slow=${SLOW_MS}` };
        return n % 3 === 0 ? streamOpenai(client, headers) : client.models.list({ headers });
      });
      // Sent last and completed first, so that the others are in progress when the processes get their signals.
      for (const gateway of pipeline.gateways) await openai(gateway, 'last').models.list();
      for (const service of [leaving, ...pipeline.gateways]) await service.kill('SIGTERM');
      const results = await Promise.allSettled(sent);
      expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
      exchanges += results.length + pipeline.gateways.length;
      expect(await Promise.all([...pipeline.gateways, leaving].map((service) => service.end()))).toEqual([0, 0, 0]);
      await untilWritten();
      await staying.kill('SIGTERM');
      expect(await staying.end()).toBe(0);
      const figures = 'SELECT count(*), count(DISTINCT id), (SELECT sum(requests) FROM day_usage) FROM traces';
      expect(await pipeline.sql(figures)).toBe(`${exchanges}|${exchanges}|${exchanges}`);
      for (const { log } of [...pipeline.gateways, ...pipeline.writers]) expect(log).not.toMatch(/"level":"(?:error|fatal)"/);
    },
    TEST_TIMEOUT_MS,
  );
});

function totalOf({ usage }: { readonly usage?: object | null | undefined }): number {
  const counts = usage as Readonly<Record<string, number>>;
  const input = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'];
  return counts['total_tokens'] ?? input.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
}
