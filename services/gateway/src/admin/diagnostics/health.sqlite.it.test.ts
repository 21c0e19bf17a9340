import { afterEach, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { rawExchange } from '../../testing/raw-exchange.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

/** Health checks do not wait for a worker, because a locked-out worker takes 2 s for each attempt. */
const PROMPT_MS = 1_900;

let gateway: TestGateway;
afterEach(async () => gateway[Symbol.asyncDispose]());

interface Health {
  readonly status: string;
  readonly reasons?: readonly string[];
}

async function health(): Promise<Health> {
  const before = performance.now();
  const response = await fetch(`${gateway.url}/api/health`);
  expect(response.status).toBe(200);
  expect(performance.now() - before).toBeLessThan(PROMPT_MS);
  const { status, reasons } = (await response.json()) as Health;
  return reasons === undefined ? { status } : { status, reasons };
}
/** Waits until health returns exactly this. */
const healthBecomes = (reasons: readonly string[]) => {
  const wanted = JSON.stringify(reasons.length === 0 ? { status: 'ok' } : { status: 'degraded', reasons });
  return waitUntil(async () => JSON.stringify(await health()) === wanted, { what: wanted, timeoutMs: 15_000 });
};

const send = () =>
  rawExchange(`${gateway.url}/openai/v1/chat/completions`, {
    headers: { authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json' },
    body: Buffer.from('{"model":"gpt-4o-mini","messages":[]}'),
  });

function hold(): Disposable {
  const database = new DatabaseSync(join(gateway.folder, 'traces.db'));
  database.exec('BEGIN IMMEDIATE');
  return { [Symbol.dispose]: () => database.isOpen && database.close() };
}

test('degraded while writes fail; ok again when a test write succeeds, without any traffic', async () => {
  gateway = await startTestGateway();
  expect(await health()).toEqual({ status: 'ok' });
  {
    using _lock = hold();
    expect((await send()).status).toBe(200);
    await healthBecomes(['writes_failing']);
    expect(await gateway.get('/')).toMatchObject({ status: 'ok' });
  }
  await healthBecomes([]);
  expect(gateway.log.some((line) => line.includes('"lost":1') && line.includes('trace writes recovered'))).toBe(true);
});

test('ok again as soon as a complete batch is written', async () => {
  gateway = await startTestGateway();
  {
    using _lock = hold();
    await send();
    await healthBecomes(['writes_failing']);
  }
  await send();
  await gateway.traces(1);
  expect(await health()).toEqual({ status: 'ok' });
});

test('degraded while the queue is full', async () => {
  gateway = await startTestGateway({ SVC_QUEUE_CAPACITY: '2' });
  {
    using _lock = hold();
    for (let i = 0; i < 3; i += 1) await send();
    expect((await health()).reasons).toContain('queue_saturated');
  }
  await gateway.traces(2);
  await healthBecomes([]);
});

test('degraded while keys of the store cannot be refreshed', async () => {
  gateway = await startTestGateway({ SVC_AUTH_ENABLED: 'true' });
  expect(await health()).toEqual({ status: 'ok' });
  const path = join(gateway.folder, 'gateway-keys.db');
  await rename(path, `${path}.away`);
  await healthBecomes(['keys_not_refreshed']);
  expect(gateway.log.some((line) => line.includes('key refresh failed'))).toBe(true);
  await rename(`${path}.away`, path);
  await healthBecomes([]);
});
