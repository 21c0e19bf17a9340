import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import type { MockProvider } from '@vitrine/testkit/mock-provider';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { join } from 'node:path';
import { chat, startLoad } from './client-load.ts';
import { GATEWAY, startGateway, type RunningGateway } from './running-gateway.ts';
import { freePort, refusesConnections, startProcess } from './running-process.ts';
import { storedModels } from './trace-rows.ts';

const CLIENTS = 16;
/** The specification's budget of one step of a shutdown, plus an allowance for a busy machine. */
const STEP_MS = 5_000;
const SLACK_MS = 2_500;

let upstream: MockProvider;
beforeAll(async () => {
  upstream = await startMockOpenai();
});
afterAll(async () => upstream[Symbol.asyncDispose]());

describe('SIGTERM', () => {
  let opened: AsyncDisposableStack;
  let gateway: RunningGateway;
  beforeEach(async () => {
    opened = new AsyncDisposableStack();
    const folder = opened.use(await temporaryFolder('shutdown'));
    gateway = opened.use(await startGateway({ folder: folder.path, upstream: upstream.url }));
  });
  afterEach(async () => opened.disposeAsync());

  test('under load: every request with a response has its trace, and the exit code is 0', async () => {
    await using load = startLoad(gateway.url, CLIENTS);
    await waitUntil(() => load.completed.length > 1_000, { what: 'the load to be under way' });
    const before = performance.now();
    gateway.process.signal('SIGTERM');
    expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
    expect(performance.now() - before).toBeLessThan(STEP_MS + SLACK_MS);
    await load.stop();
    const stored = new Set(storedModels(gateway.databasePath));
    expect(load.completed.filter((model) => !stored.has(model))).toEqual([]);
    expect(load.refused).toEqual([]);
  });

  test('with requests in flight: new connections are refused, and it ends after complete responses', async () => {
    const before = upstream.exchanges;
    const responses = [
      chat(gateway.url, { model: 'slow-json', scenario: 'slow=300' }),
      chat(gateway.url, { model: 'slower-stream', scenario: 'slow=1500,chunks=20', stream: true }),
    ];
    await waitUntil(() => upstream.exchanges === before + 2, { what: 'both to be in flight' });
    gateway.process.signal('SIGTERM');
    await waitUntil(() => refusesConnections(gateway.port), { what: 'new connections to be refused', timeoutMs: 1_000 });
    expect(gateway.process.isRunning).toBe(true);
    const [json, stream] = await Promise.all(responses);
    expect(json).toMatchObject({ status: 200, body: expect.stringContaining('"object":"chat.completion"') });
    expect(stream).toMatchObject({ status: 200, body: expect.stringMatching(/data: \[DONE\]\s+$/) });
    expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
    expect(storedModels(gateway.databasePath).toSorted()).toEqual(['slow-json', 'slower-stream']);
  });

  test('during an endless stream: it is cut after 5 s and leaves a trace', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const response = chat(gateway.url, { model: 'endless', scenario: 'endless', stream: true, onText: () => begin() });
    const cut = expect(response).rejects.toThrow();
    await begun;
    const before = performance.now();
    gateway.process.signal('SIGTERM');
    await cut;
    const took = performance.now() - before;
    expect(took).toBeGreaterThan(STEP_MS - 500);
    expect(took).toBeLessThan(STEP_MS + SLACK_MS);
    expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
    expect(storedModels(gateway.databasePath)).toEqual(['endless']);
    // It was not the provider that ended it.
    const debug = startProcess({
      command: [...GATEWAY, 'debug', 'last', '--format', 'json'],
      env: { SVC_STORAGE_PATH: gateway.databasePath },
    });
    expect(await debug.end()).toMatchObject({ code: 0 });
    const { source } = JSON.parse(debug.stdout) as { source: { outcome: string; metadata: object } };
    expect(source.outcome).toBe('timeout');
    expect(source.metadata).not.toHaveProperty('upstream_error');
    expect(gateway.process.stdout).not.toContain('upstream request failed');
  });

  test('with clients that keep idle connections: they do not delay it', async () => {
    await using load = startLoad(gateway.url, CLIENTS);
    await waitUntil(() => load.completed.length >= CLIENTS, { what: 'a connection for every client' });
    await load.stop();
    const before = performance.now();
    gateway.process.signal('SIGTERM');
    expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
    expect(performance.now() - before).toBeLessThan(SLACK_MS);
  });

  test('a second time during the shutdown: it ends at once', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const response = chat(gateway.url, { model: 'endless', scenario: 'endless', stream: true, onText: () => begin() });
    const cut = expect(response).rejects.toThrow();
    await begun;
    gateway.process.signal('SIGTERM');
    await waitUntil(() => refusesConnections(gateway.port), { what: 'the shutdown to begin' });
    // What follows the first within a moment may be its echo: npm passes on what the terminal has sent already.
    const again = () => {
      gateway.process.signal('SIGTERM');
      return !gateway.process.isRunning;
    };
    await waitUntil(again, { what: 'the end', timeoutMs: SLACK_MS });
    expect(await gateway.process.end()).toEqual({ code: null, signal: 'SIGTERM' });
    await cut;
  });
});

// A terminal sends Ctrl+C to npm and to everything it has started; a supervisor sends SIGTERM to npm alone.
test.each([
  ['Ctrl+C in a terminal', 'SIGINT', 'group'],
  ['SIGTERM to npm alone', 'SIGTERM', 'process'],
] as const)('npm start ends in order on %s: requests in flight get responses and traces', async (_name, signal, to) => {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder('shutdown'));
  const port = await freePort();
  const env = {
    VITRINE_DATA_DIR: folder.path,
    SVC_SERVER_PORT: String(port),
    VITRINE_STORES_ENABLED: 'false',
    SVC_PROVIDERS_OPENAI_UPSTREAM: upstream.url,
  };
  const running = opened.use(startProcess({ command: ['npm', 'start'], env }));
  const url = `http://127.0.0.1:${port}`;
  await running.untilServing(`${url}/api/health`);
  const before = upstream.exchanges;
  const response = chat(url, { model: 'in-flight', scenario: 'slow=600' });
  await waitUntil(() => upstream.exchanges > before, { what: 'the request to be in flight' });
  running.signal(signal, to);
  expect(await response).toMatchObject({ status: 200 });
  await waitUntil(() => refusesConnections(port), { what: 'the port to be free' });
  await running.end();
  expect(running.stdout).toContain('Vitrine is stopping');
  // npm may end before what it has started: the folder is free when that has ended, too.
  await waitUntil(() => storedModels(join(folder.path, 'traces.db')).includes('in-flight'), { what: 'the trace' });
});
