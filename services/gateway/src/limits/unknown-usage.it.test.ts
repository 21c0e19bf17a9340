import { describe, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { TracePage, TraceSummary } from '@vitrine/traces/trace';
import { startScriptedProvider } from '../testing/scripted-provider.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

const TOKEN = 'one-token-0123456789-0123456789';
const AUTH = `auth: {enabled: true, keys: [{id: one, token: ${TOKEN}, org_id: acme, workspace_id: search, role: owner}]}`;
const HEADERS = { 'x-svc-gateway-key': TOKEN, authorization: 'Bearer sk-canary' };
const JSON_HEADERS = { ...HEADERS, 'content-type': 'application/json' };
const messages = [{ role: 'user', content: 'hi' }];

type Send = (gateway: TestGateway) => Promise<number>;

/** Sends a chat, reads its response and returns its status. */
function chat(model: string, more: object = {}, scenario = ''): Send {
  return async ({ url }) => {
    const body = JSON.stringify({ model, messages, ...more });
    const headers = { ...JSON_HEADERS, 'x-mock-scenario': scenario };
    const response = await fetch(`${url}/openai/v1/chat/completions`, { method: 'POST', headers, body });
    await response.arrayBuffer();
    return response.status;
  };
}

/** A transcription whose usage is not reported. */
const transcription: Send = async ({ url }) => {
  const body = new FormData();
  body.set('file', new Blob([Buffer.alloc(32_000)]), 'a.wav');
  body.set('model', 'prod-transcribe');
  const headers = { ...HEADERS, 'x-mock-scenario': 'no-usage' };
  const response = await fetch(`${url}/openai/v1/audio/transcriptions`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
};

/** A stream whose client leaves after its first bytes. The provider would send for ever. */
const leavingClient: Send = async ({ url }) => {
  const headers = { ...JSON_HEADERS, 'x-mock-scenario': 'stall,chunk-bytes=2000' };
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages, stream: true, stream_options: { include_usage: true } });
  const leave = new AbortController();
  const request = { method: 'POST', headers, body, signal: leave.signal };
  const response = await fetch(`${url}/openai/v1/chat/completions`, request);
  if (response.status === 200) await response.body?.getReader().read();
  leave.abort();
  return response.status;
};

async function statuses(gateway: TestGateway, count: number, send: Send): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i += 1) {
    found.push(await send(gateway));
    await traces(gateway, i + 1);
  }
  return found;
}

/** All traces, once there are at least `count`. */
function traces({ url }: TestGateway, count: number): Promise<TraceSummary[]> {
  const all = async () => {
    const found: TraceSummary[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const query = `limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const page = (await (await fetch(`${url}/api/traces?${query}`, { headers: HEADERS })).json()) as TracePage;
      found.push(...page.items);
      cursor = page.next_cursor;
    }
    return found.length >= count && found;
  };
  return waitUntil(all, { what: `${count} traces` });
}

const passed = (found: readonly number[]) => found.filter((status) => status === 200).length;

describe('a cap of 0.05 dollars a day, and exchanges of 0.125 dollars each', () => {
  /** 25,000 tokens at 5 dollars a million, the price of the model that stands in. */
  const usage = { prompt_tokens: 25_000, completion_tokens: 0, total_tokens: 25_000 };
  const start = async (opened: AsyncDisposableStack, unknown: string, variables: Readonly<Record<string, string>> = {}) => {
    const body = JSON.stringify({ object: 'chat.completion', model: 'prod-chat', choices: [], usage });
    const respond = () => ({ headers: { 'content-type': 'application/json' }, body });
    const provider = opened.use(await startScriptedProvider(respond));
    const limits = `limits: {unknown: ${unknown}, per_key: {max_cost_usd_per_day: 0.05}}`;
    return opened.use(
      await startTestGateway({ SVC_PROVIDERS_OPENAI_UPSTREAM: provider.url, ...variables }, `${AUTH}\n${limits}`),
    );
  };

  test.each([
    ['estimate', [200, 429, 429, 429, 429, 429]],
    ['allow', [200, 200, 200, 200, 200, 200]],
    ['refuse', [403, 403, 403, 403, 403, 403]],
  ])('of a model without a price: %s', async (unknown, expected) => {
    await using opened = new AsyncDisposableStack();
    const gateway = await start(opened, unknown);
    expect(await statuses(gateway, 6, chat('prod-chat'))).toEqual(expected);
    const [newest] = (await traces(gateway, 6)).toReversed();
    if (unknown !== 'refuse')
      expect(newest).toMatchObject({
        cost_status: 'unpriced',
        estimated_cost_usd: 0,
        cost_upper_usd: 0.125,
        total_tokens: 25_000,
      });
  });

  test('the model of prices.unknown_model stands in', async () => {
    await using opened = new AsyncDisposableStack();
    const gateway = await start(opened, 'estimate', { SVC_PRICES_UNKNOWN_MODEL_OPENAI: 'gpt-4o-mini' });
    // 25,000 tokens at 0.15 dollars a million.
    expect(passed(await statuses(gateway, 15, chat('prod-chat')))).toBe(14);
    expect((await traces(gateway, 15)).at(-1)).toMatchObject({ cost_status: 'unpriced', cost_upper_usd: 0.00375 });
  });
});

describe('a cap of 1,000 tokens a day', () => {
  test.each<[string, Send]>([
    ['streams of 600 words that ask for no usage', chat('gpt-4o-mini', { stream: true }, 'chunks=600')],
    ['streams whose client leaves before the usage', leavingClient],
    ['transcriptions, which are multipart', transcription],
  ])('%s', async (_, send) => {
    const start = (unknown: string) =>
      startTestGateway({}, `${AUTH}\nlimits: {unknown: ${unknown}, per_key: {max_tokens_per_day: 1000}}`);
    await using estimating = await start('estimate');
    const found = await statuses(estimating, 12, send);
    expect(found.slice(-3)).toEqual([429, 429, 429]);
    expect(found[0]).toBe(200);
    await using allowing = await start('allow');
    expect(passed(await statuses(allowing, 12, send))).toBe(12);
  });
});

test('64 clients over mixed traffic exceed a cap by at most what was in flight', async () => {
  const cap = 0.05;
  await using gateway = await startTestGateway({}, `${AUTH}\nlimits: {per_workspace: {max_cost_usd_per_day: ${cap}}}`);
  const kinds = [
    chat('gpt-4o-mini'),
    chat('prod-chat'),
    chat('gpt-4o', { stream: true }, 'chunks=100'),
    chat('gpt-4o', { stream: true, stream_options: { include_usage: true } }),
    transcription,
    leavingClient,
  ];
  let sent = 0;
  const client = async (number: number) => {
    for (let i = number; ; i += 1) {
      sent += 1;
      if ((await kinds[i % kinds.length]?.(gateway)) !== 200) return;
    }
  };
  await Promise.all(Array.from({ length: 64 }, (_, number) => client(number)));
  const all = await traces(gateway, sent);
  const costs = all.map(({ cost_upper_usd = 0 }) => cost_upper_usd).toSorted((left, right) => right - left);
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
  expect(all.filter(({ outcome, cost_upper_usd }) => outcome !== 'rejected' && cost_upper_usd === 0)).toEqual([]);
  expect(sum(costs)).toBeGreaterThanOrEqual(cap);
  expect(sum(costs)).toBeLessThan(cap + sum(costs.slice(0, 64)));
});
