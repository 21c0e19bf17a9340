import { expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGateway, type RunningGateway, type TraceItem } from './running-gateway.ts';

const DAY_MS = 86_400_000;
const CLOCK = fileURLToPath(new URL('./settable-clock.ts', import.meta.url));
const TOKEN = 'one-token-0123456789-0123456789';
const HEADERS = { 'x-svc-gateway-key': TOKEN, authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json' };
/** The tokens of one exchange, and how many exchanges a day may have. */
const TOKENS = 20;
const A_DAY = 6;
const DIFFERS = "the clock of this process differs from the database's";

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);

async function sendChat({ url }: RunningGateway) {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello there you all' }] });
  const response = await fetch(`${url}/openai/v1/chat/completions`, { method: 'POST', headers: HEADERS, body });
  await response.arrayBuffer();
  return { status: response.status, resetsAt: response.headers.get('x-svc-quota-resets-at') };
}

test('of two gateways on one database the one whose clock is 40 days ahead has the same quota day, and its traces the same times', async () => {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder('clock')).path;
  const dsn = new URL(opened.use(await templateDatabase()).dsn.reveal());
  dsn.searchParams.set('options', '-c role=vitrine_gateway');
  const key = `{ id: one, token: ${TOKEN}, role: owner }`;
  const limits = `limits: { counters: shared, per_key: { max_tokens_per_day: ${A_DAY * TOKENS} } }`;
  const upstream = opened.use(await startMockOpenai());
  const start = async (name: string, variables: Readonly<Record<string, string>> = {}) => {
    const home = join(folder, name);
    await mkdir(home);
    await writeFile(join(home, 'vitrine.yaml'), `auth: { enabled: true, keys: [${key}] }\n${limits}\n`);
    const storage = { SVC_STORAGE_DRIVER: 'postgres', SVC_STORAGE_DSN: dsn.href, SVC_AUTH_PEPPERS: `1:${'p'.repeat(40)}` };
    return opened.use(
      await startGateway({ folder: home, upstream: upstream.url, variables: { ...storage, ...variables }, gatewayKey: TOKEN }),
    );
  };
  const ahead = { CLOCK_SETTINGS_MS: String(40 * DAY_MS), NODE_OPTIONS: `--import=${CLOCK}` };
  const [right, wrong] = await Promise.all([start('right'), start('wrong', ahead)]);
  const differs = () => wrong.process.stdout.includes(DIFFERS) || wrong.process.stderr.includes(DIFFERS);
  await waitUntil(differs, { what: 'the difference in the log' });

  const before = Date.now();
  expect((await sendChat(wrong)).status).toBe(200);
  const { items } = await waitUntil(
    async () => {
      const page = await right.get<{ items: (TraceItem & { created_at: string })[] }>('/api/traces');
      return page.items.length === 1 && page;
    },
    { what: 'the trace' },
  );
  expect(Math.abs(Date.parse(items[0]?.created_at ?? '') - before)).toBeLessThan(DAY_MS / 24);
  // What one may still use of the day it may hold for some seconds, so that the other is refused before all is used.
  const untilUsedUp = (gateway: RunningGateway, what: string) =>
    waitUntil(async () => (await sendChat(gateway)).resetsAt === `${dayOf(before + DAY_MS)}T00:00:00Z`, {
      what: `the end of the day's quota of ${what}`,
      timeoutMs: 60_000,
    });
  await untilUsedUp(right, 'the gateway whose clock is right');
  await untilUsedUp(wrong, 'the other');
  const all = await right.get<{ items: unknown[] }>('/api/traces?status=200&limit=200');
  expect(all.items.length).toBeLessThanOrEqual(A_DAY + 2);
});
