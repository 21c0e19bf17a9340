import { expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

test('sixty lines are a service: configuration, logs, telemetry, health, OpenAPI and shutdown come with the packages', async () => {
  expect(readFileSync(MAIN, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(60);
  const env = { HELLO_SERVER_PORT: '0', HELLO_PROMETHEUS_ENABLED: 'true' };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (log += chunk));
  try {
    const what = 'the line of a listening service';
    const url = await waitUntil(() => /"url":"([^"]+)".*"msg":"service is listening"/.exec(log)?.[1], { what });
    const get = async (path: string) => (await fetch(url + path)).json() as Promise<Record<string, unknown>>;
    expect(await get('/api/health')).toEqual({ status: 'ok', version: '0.1.0', uptime_sec: expect.any(Number) });
    expect([await get('/livez'), await get('/readyz')]).toEqual([{ status: 'live' }, { status: 'ready' }]);
    expect(await get('/api/greetings/Ada?word=goodbye')).toEqual({ text: 'goodbye, Ada' });
    expect(await get('/api/greetings/Ada?word=x')).toEqual({ error: 'invalid word: "x"' });
    const { openapi, paths } = await get('/api/openapi.json');
    expect([openapi, Object.keys(paths as object)]).toEqual([
      '3.1.1',
      ['/', '/api/health', '/api/greetings/{name}', '/api/openapi.json'],
    ]);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('nodejs_eventloop');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(log).toContain('"signal":"SIGTERM","msg":"service is shutting down"');
  } finally {
    child.kill('SIGKILL');
  }
});
