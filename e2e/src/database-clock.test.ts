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
/** What one exchange costs, and how many a day may have. */
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
  for (let n = 0; n < A_DAY; n += 1) expect((await sendChat(n % 2 === 0 ? right : wrong)).status).toBe(200);
  const items = await waitUntil(
    async () => {
      const page = await right.get<{ items: (TraceItem & { created_at: string })[] }>('/api/traces');
      return page.items.length === A_DAY && page.items;
    },
    { what: 'the traces' },
  );
  for (const { created_at } of items) expect(Math.abs(Date.parse(created_at) - before)).toBeLessThan(DAY_MS / 24);
  const expected = { status: 429, resetsAt: `${dayOf(before + DAY_MS)}T00:00:00Z` };
  expect([await sendChat(right), await sendChat(wrong)]).toEqual([expected, expected]);
});
