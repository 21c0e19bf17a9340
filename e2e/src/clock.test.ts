import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGateway, type Diagnostics, type RunningGateway, type TraceItem } from './running-gateway.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const CLOCK = fileURLToPath(new URL('./settable-clock.ts', import.meta.url));
const TOKEN = 'one-token-0123456789-0123456789';
/** The tokens of one exchange of `sendChat`, and how many exchanges a day may have. */
const TOKENS = 20;
const A_DAY = 10;
/** A batch is written within some 30 ms; a clock that was set back delayed it by the same time. */
const WRITTEN_WITHIN_MS = 3_000;

const now = Date.now();
/** Noon of a UTC day that was a while ago, so that no setting is in the future. */
const noon = (Math.floor(now / DAY_MS) - 5) * DAY_MS + 12 * HOUR_MS;
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
const settings = {
  noon: noon - now,
  'a day back': noon - DAY_MS - now,
  'noon again': noon - now,
  'an hour on': noon + HOUR_MS - now,
  'an hour back': noon - now,
  'the next day': noon + DAY_MS - now,
};

let opened: AsyncDisposableStack;
let gateway: RunningGateway;
beforeAll(async () => {
  opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder('clock')).path;
  const key = `{ id: one, token: ${TOKEN}, role: owner }`;
  const limits = `limits: { per_key: { max_tokens_per_day: ${A_DAY * TOKENS} } }`;
  await writeFile(join(folder, 'vitrine.yaml'), `auth: { enabled: true, keys: [${key}] }\n${limits}\n`);
  const upstream = opened.use(await startMockOpenai());
  const variables = { CLOCK_SETTINGS_MS: Object.values(settings).join(), NODE_OPTIONS: `--import=${CLOCK}` };
  gateway = opened.use(await startGateway({ folder, upstream: upstream.url, variables }));
});
afterAll(async () => opened.disposeAsync());

const headers = { 'x-svc-gateway-key': TOKEN, authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json' };
const get = async <T>(path: string) => (await (await fetch(gateway.url + path, { headers })).json()) as T;
const written = async () =>
  (await get<{ diagnostics: Diagnostics }>('/api/diagnostics/trace-pipeline')).diagnostics.written_total;

/** One exchange; its status, and the end of its quota if it was refused. */
async function sendChat(scenario = ''): Promise<{ status: number; resetsAt: string | null }> {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello there you all' }] });
  const url = `${gateway.url}/openai/v1/chat/completions`;
  const response = await fetch(url, { method: 'POST', headers: { ...headers, 'x-mock-scenario': scenario }, body });
  await response.arrayBuffer();
  return { status: response.status, resetsAt: response.headers.get('x-svc-quota-resets-at') };
}

let sent = 0;
/** The statuses of `count` exchanges, one after the other. Each has its trace soon. */
async function statuses(count: number): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i += 1) seen.push((await sendChat()).status);
  sent += count;
  await waitUntil(async () => (await written()) === sent, { what: `${sent} traces`, timeoutMs: WRITTEN_WITHIN_MS });
  return seen;
}

/** The gateway's wall clock is set to the next of `settings`. */
async function setClock(to: keyof typeof settings): Promise<void> {
  gateway.process.signal('SIGUSR2');
  const at = now + settings[to];
  const shown = async () => Date.parse((await get<{ generated_at: string }>('/api/diagnostics/trace-pipeline')).generated_at);
  await waitUntil(async () => Math.abs((await shown()) - at) < HOUR_MS / 2, { what: `the clock to show ${to}` });
}

const times = (status: number, count: number) => Array.from({ length: count }, () => status);

test('a changed wall clock stops no trace, refuses no request, and each UTC day has its own quota', async () => {
  expect(await statuses(3)).toEqual(times(200, 3));
  const underWay = sendChat('slow=1500');
  sent += 1;
  await setClock('a day back');
  // A concurrent load while the totals of that day are being read.
  const atOnce = Array.from({ length: 4 }, () => sendChat());
  expect((await Promise.all(atOnce)).map(({ status }) => status)).toEqual(times(200, 4));
  expect((await underWay).status).toBe(200);
  sent += 4;
  // Requests in progress ended on that day and count there.
  expect(await statuses(A_DAY - 4)).toEqual([...times(200, A_DAY - 5), 429]);
  sent += 1;
  expect((await sendChat()).resetsAt).toBe(`${dayOf(noon)}T00:00:00Z`);

  await setClock('noon again');
  expect(await statuses(A_DAY - 3 + 1)).toEqual([...times(200, A_DAY - 3), 429]);
  await setClock('an hour on');
  expect(await statuses(2)).toEqual(times(429, 2));
  await setClock('an hour back');
  expect(await statuses(2)).toEqual(times(429, 2));
  await setClock('the next day');
  expect(await statuses(3)).toEqual(times(200, 3));
});

test('its traces are listed by created_at and id, each once, page by page, with true durations', async () => {
  const all: (TraceItem & { created_at: string; latency_ms: number })[] = [];
  for (let cursor = ''; ;) {
    const page = await get<{ items: typeof all; next_cursor?: string }>(`/api/traces?limit=3${cursor}`);
    all.push(...page.items);
    if (page.next_cursor === undefined) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect(all).toHaveLength(sent);
  const order = all.map(({ created_at, id }) => `${created_at} ${id}`);
  expect(order).toEqual(order.toSorted().toReversed());
  expect(new Set(all.map(({ created_at }) => created_at.slice(0, 10)))).toEqual(
    new Set([noon + DAY_MS, noon, noon - DAY_MS].map(dayOf)),
  );
  const slow = all.filter(({ latency_ms: latency }) => latency >= 1_500);
  expect(slow.map(({ created_at }) => created_at.slice(0, 10))).toEqual([dayOf(noon - DAY_MS)]);
  expect(all.filter(({ latency_ms: latency }) => latency < 0 || latency > 10_000)).toEqual([]);
});
