import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { startMockAnthropic } from '@vitrine/testkit/mock-anthropic';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import { npmScript } from '@vitrine/testkit/npm-script';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CLIENTS, KeyFixture } from '../testing/key-fixture.ts';
import { asOperator, PEPPER } from '../testing/start-test-operator.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const HEADER = 'X-Team-Key';
const CLIENT_PROGRAMS = {
  openai: `import OpenAI from 'openai';
    const messages = [{ role: 'user', content: 'hello' }];
    const { choices } = await new OpenAI({ apiKey: 'sk-own' }).chat.completions.create({ model: 'gpt-4.1', messages });
    process.stdout.write(choices[0].message.content);`,
  anthropic: `import Anthropic from '@anthropic-ai/sdk';
    const messages = [{ role: 'user', content: 'hello' }];
    const client = new Anthropic({ apiKey: 'sk-own' });
    const { content } = await client.messages.create({ model: 'claude-opus-4-5', max_tokens: 64, messages });
    process.stdout.write(content[0].text);`,
};

const opened = new AsyncDisposableStack();
let database: TestDatabase;
let world: KeyFixture;
beforeAll(async () => {
  database = opened.use(await templateDatabase());
  const pool = opened.use(new PostgresPool({ dsn: asOperator(database.dsn), applicationName: 'test' }));
  world = opened.use(await KeyFixture.open(pool));
});
afterAll(() => opened.disposeAsync());

const environment = () =>
  Object.fromEntries(
    Object.entries(world.secret?.data ?? {}).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]),
  );

test('the official SDKs reach their providers through the gateway with only the Secret of a key in their environment', async () => {
  const openai = opened.use(await startMockOpenai());
  const anthropic = opened.use(await startMockAnthropic());
  const url = await startGateway(openai.url, anthropic.url);
  world.clients = { openai_base_url: `${url}/openai/v1`, anthropic_base_url: `${url}/anthropic`, key_header: HEADER };
  world.apply();
  await world.converge();
  for (const program of Object.values(CLIENT_PROGRAMS)) {
    const args = ['--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env: environment() });
    expect(stdout.length).toBeGreaterThan(3);
  }
  for (const { received } of [openai, anthropic])
    expect(received.map(({ rawHeaders }) => rawHeaders.map((text) => text.toLowerCase()))).toEqual([
      expect.not.arrayContaining([HEADER.toLowerCase()]),
    ]);
});

test('a Secret created earlier or for another address gets the variables and keeps its token', async () => {
  const { token } = world;
  world.clients = CLIENTS;
  world.restart();
  await world.converge();
  expect(environment()).toMatchObject({
    token,
    OPENAI_BASE_URL: 'http://gateway/openai/v1',
    OPENAI_CUSTOM_HEADERS: `X-Svc-Gateway-Key: ${token}`,
    ANTHROPIC_BASE_URL: 'http://gateway/anthropic',
    ANTHROPIC_CUSTOM_HEADERS: `X-Svc-Gateway-Key: ${token}`,
  });
});

/** Starts a gateway on the database of the test. Resolves with its URL. */
async function startGateway(openai: string, anthropic: string): Promise<string> {
  const folder = opened.use(await temporaryFolder('gateway'));
  const port = await freePort();
  const env = {
    SVC_SERVER_HOST: '127.0.0.1',
    SVC_SERVER_PORT: String(port),
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_STORAGE_DSN: database.dsn.reveal(),
    SVC_AUTH_ENABLED: 'true',
    SVC_AUTH_PEPPERS: PEPPER,
    SVC_AUTH_HEADER: HEADER,
    SVC_PROVIDERS_OPENAI_UPSTREAM: openai,
    SVC_PROVIDERS_ANTHROPIC_UPSTREAM: anthropic,
  };
  const [file, ...args] = npmScript('gateway');
  const child = spawn(file, args, { cwd: folder.path, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'close');
  opened.defer(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  const isServing = () =>
    fetch(`${url}/api/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitUntil(isServing, { what: 'the gateway' });
  return url;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
