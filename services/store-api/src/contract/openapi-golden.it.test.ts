import { expect, test } from '@jest/globals';
import { goldenText } from '@vitrine/testkit/golden-text';
import { startTestStoreApi } from '../testing/start-test-store-api.ts';

const GOLDEN = new URL('../../../../docs/api/store-api.openapi.json', import.meta.url);

test('docs/api contains the contract of the store API; npm run golden rewrites it', async () => {
  await using api = await startTestStoreApi();
  const text = `${JSON.stringify((await api.request('/v1/openapi.json')).json, undefined, 2)}\n`;
  expect(text).toBe(goldenText(GOLDEN, text));
});

test('every operation has its scope, its billing unit and notes for agents, and GET /v1 lists the served ones', async () => {
  await using api = await startTestStoreApi();
  const { paths } = (await api.request('/v1/openapi.json')).json as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  const { endpoints } = (await api.request('/v1')).json as { endpoints: Record<string, string> };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const rows = operations.map((operation) =>
    [operation['operationId'], operation['x-scope'], operation['x-billing-unit']].join(' | '),
  );
  expect(rows.toSorted()).toEqual(
    [
      'getIndex | none | free',
      'getVersionIndex | none | free',
      'getHealth | none | free',
      'getOpenapi | none | free',
      'getAccount | any | free',
      'getUsage | any | free',
      'getStore | read:stores | lookup_cached',
      'enrichStores | read:stores | lookup_cached, lookup_live',
      'listTechnologies | read:stores | free',
      'getTechnology | read:stores | free',
      'getStoreHistory | read:signals | history_query',
      'searchSignals | read:signals | history_query',
      'listWatchlists | read:watchlists | free',
      'createWatchlist | write:watchlists | free',
      'getWatchlist | read:watchlists | free',
      'updateWatchlist | write:watchlists | free',
      'deleteWatchlist | write:watchlists | free',
      'listWebhooks | read:webhooks | free',
      'createWebhook | write:webhooks | free',
      'getWebhook | read:webhooks | free',
      'updateWebhook | write:webhooks | free',
      'deleteWebhook | write:webhooks | free',
      'getJob | read:jobs | free',
      'requestScan | write:scans | refresh_requested',
    ].toSorted(),
  );
  for (const operation of operations) {
    expect(String(operation['x-agent-notes']).length).toBeGreaterThan(40);
    const isServed = Object.hasOwn(endpoints, String(operation['operationId']));
    expect(Object.hasOwn(operation['responses'] as object, '501')).toBe(!isServed);
  }
});
