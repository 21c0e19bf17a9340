import { expect, test } from '@jest/globals';
import { importVocabulary } from '@vitrine/stores/import-vocabulary';
import { VOCABULARY } from '@vitrine/registry/vocabulary';
import { waitUntil } from '@vitrine/testkit/wait-until';
import { startTestStoreApi, type TestStoreApi } from './testing/start-test-store-api.ts';

const DAY_MS = 86_400_000;

test('a replica whose clock is 40 days ahead accepts cursors of others and judges staleness correctly', async () => {
  await using right = await startTestStoreApi();
  await importVocabulary(right.database.as('vitrine_store_api'), VOCABULARY);
  await right.addDemoStore();
  const { token } = await right.addKey({ plan: 'free' });
  const page = await right.request('/v1/technologies?limit=1', { token });
  const next = `/v1/technologies?limit=1&cursor=${String(page.json['next_cursor'])}`;
  const trueTime = Date.now;
  Date.now = () => trueTime() + 40 * DAY_MS;
  try {
    await using wrong = await startTestStoreApi({}, right.database);
    const statusOf = async (api: TestStoreApi) => (await api.request(next, { token })).status;
    await waitUntil(async () => (await statusOf(wrong)) === 200, { what: 'the clock of the database', timeoutMs: 15_000 });
    expect(await statusOf(right)).toBe(200);
    expect((await wrong.request('/v1/stores/example.com', { token })).json).toMatchObject({ match: 'matched' });
  } finally {
    Date.now = trueTime;
  }
});
