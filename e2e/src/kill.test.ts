import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startMockOpenai } from '@vitrine/testkit/mock-openai';
import type { MockProvider } from '@vitrine/testkit/mock-provider';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startLoad } from './client-load.ts';
import { startGateway } from './running-gateway.ts';
import { storedModels } from './trace-rows.ts';

const ROUNDS = 3;

let upstream: MockProvider;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  upstream = await startMockOpenai();
  folder = await temporaryFolder('kill');
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

test(`kill -9 in the middle of load, ${ROUNDS} times: the file opens again and nothing that was shown is lost`, async () => {
  const shown = new Map<string, string>();
  let countShown = 0;
  let databasePath = '';
  for (let round = 0; round <= ROUNDS; round += 1) {
    await using gateway = await startGateway({ folder: folder.path, upstream: upstream.url });
    ({ databasePath } = gateway);
    const { status, trace_count: count } = await gateway.health();
    expect(status).toBe('ok');
    expect(count).toBeGreaterThanOrEqual(countShown);
    const all = await gateway.traces();
    expect(all.length).toBe(count);
    const models = new Map(all.map(({ id, model }) => [id, model]));
    expect([...shown].filter(([id, model]) => models.get(id) !== model)).toEqual([]);
    // A trace is its summary and its payload: the oldest and the newest that were shown before still have both.
    for (const id of [...shown.keys()].flatMap((id, i, ids) => (i < 3 || i >= ids.length - 3 ? id : [])))
      expect(await gateway.get(`/api/traces/${id}`)).toMatchObject({ id, request_headers: { host: expect.any(Array) } });

    if (round === ROUNDS) {
      gateway.process.signal('SIGTERM');
      expect(await gateway.process.end()).toEqual({ code: 0, signal: null });
      break;
    }
    await using load = startLoad(gateway.url, 16, `round-${round}`);
    await waitUntil(() => load.completed.length > 500 * (round + 1), { what: 'the load to be under way' });
    for (const { id, model } of await gateway.traces()) shown.set(id, model);
    countShown = (await gateway.health()).trace_count;
    gateway.process.signal('SIGKILL');
    expect(await gateway.process.end()).toEqual({ code: null, signal: 'SIGKILL' });
    await load.stop();
  }
  expect(shown.size).toBeGreaterThan(1_000);
  expect(storedModels(databasePath).length).toBeGreaterThanOrEqual(countShown);
});
