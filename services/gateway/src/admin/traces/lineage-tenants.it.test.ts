import { expect, test } from '@jest/globals';
import type { Replay } from '@vitrine/traces/replay';
import { startTestGateway } from '../../testing/start-test-gateway.ts';
import { openTestStorage } from '../../testing/test-storage.ts';

const KEYS = ['acme-token-0123456789-012345', 'beta-token-0123456789-012345'];
const YAML = `auth: {enabled: true, keys: [{id: a, token: ${KEYS[0]}, org_id: acme}, {id: b, token: ${KEYS[1]}, org_id: beta}]}`;

test('with authentication off, replay and fork keep to the tenant of the trace: another may have the same thread', async () => {
  await using storage = await openTestStorage();
  const closed = await startTestGateway(storage.variables, YAML);
  for (const key of [...KEYS, ...KEYS])
    await fetch(`${closed.url}/openai/v1/models`, {
      headers: { authorization: 'Bearer sk-x', 'x-svc-gateway-key': key, 'x-svc-thread-id': 'shared' },
    }).then((response) => response.text());
  await closed[Symbol.asyncDispose]();

  await using open = await startTestGateway(storage.variables);
  const all = await open.traces(4);
  const details = await Promise.all(all.map(async ({ id }) => open.get(`/api/traces/${id}`)));
  const orgOf = (id: string) => (details.find((one) => (one as { id: string }).id === id) as { metadata: object }).metadata;
  const [newest, ...others] = all;
  const replayed = (await open.get(`/api/traces/${newest?.id ?? ''}/replay`)) as Replay;
  expect(replayed.checkpoints).toHaveLength(2);
  for (const { id } of replayed.checkpoints) expect(orgOf(id)).toMatchObject({ org_id: 'beta' });

  const foreign = others.find(({ id }) => (orgOf(id) as { org_id?: string }).org_id === 'acme')?.id;
  const response = await fetch(`${open.url}/api/traces/${newest?.id ?? ''}/replay?checkpoint_id=${foreign}`);
  expect([response.status, await response.json()]).toEqual([404, { error: 'checkpoint not found' }]);
  const body = JSON.stringify({ checkpoint_id: foreign });
  expect((await fetch(`${open.url}/api/traces/${newest?.id ?? ''}/fork`, { method: 'POST', body })).status).toBe(404);
});
