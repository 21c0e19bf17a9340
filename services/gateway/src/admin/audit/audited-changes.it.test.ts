import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitUntil } from '@vitrine/testkit/wait-until';
import type { AuditEventPage, ListedAuditEvent } from '@vitrine/gateway-keys/audit-event-page';
import type { TracePage } from '@vitrine/traces/trace';
import { readServedOperations } from '../../testing/served-operations.ts';
import { startTestGateway, type TestGateway } from '../../testing/start-test-gateway.ts';

const OWNER = 'acme-owner-token-0123456789';
const YAML = `
auth:
  enabled: true
  keys:
    - {id: acme-owner, token: ${OWNER}, org_id: acme, workspace_id: search, role: owner}`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({}, YAML);
});
afterAll(async () => gateway[Symbol.asyncDispose]());

/** A call that succeeds, and the audit event that it leaves; without one it changes nothing. */
interface Change {
  readonly path: string;
  readonly body?: object;
  readonly event?: Pick<ListedAuditEvent, 'action' | 'target'>;
}

/** A change for each operation of the admin API with another method than GET. */
const CHANGES: Readonly<Record<string, () => Promise<Change>>> = {
  'POST /api/gateway-keys': async () => ({
    path: '/api/gateway-keys',
    body: { id: 'made' },
    event: { action: 'gateway_key.create', target: 'made' },
  }),
  'POST /api/gateway-keys/:id/rotate': async () => ({
    path: `/api/gateway-keys/${await makeKey('rotated')}/rotate`,
    body: {},
    event: { action: 'gateway_key.rotate', target: 'rotated' },
  }),
  'DELETE /api/gateway-keys/:id': async () => ({
    path: `/api/gateway-keys/${await makeKey('revoked')}`,
    event: { action: 'gateway_key.revoke', target: 'revoked' },
  }),
  'POST /api/traces/:id/fork': async () => ({ path: `/api/traces/${await makeTrace()}/fork`, body: {} }),
};

const THIS_TABLE = 'CHANGES in services/gateway/src/admin/audit/audited-changes.it.test.ts';

function send(
  method: string,
  path: string,
  { body, id = 'setup' }: { readonly body?: object | undefined; readonly id?: string },
) {
  return fetch(gateway.url + path, {
    method,
    headers: { 'x-svc-gateway-key': OWNER, 'x-request-id': id, authorization: 'Bearer sk-test-0123456789' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}
const read = async (path: string) => (await send('GET', path, {})).json();
const readEvents = async () => ((await read('/api/audit-events?limit=200')) as AuditEventPage).items;

async function makeKey(id: string): Promise<string> {
  expect((await send('POST', '/api/gateway-keys', { body: { id } })).status).toBe(201);
  return id;
}

async function makeTrace(): Promise<string> {
  await (await send('GET', '/openai/v1/models', {})).arrayBuffer();
  const [trace] = await waitUntil(
    async () => {
      const { items } = (await read('/api/traces')) as TracePage;
      return items.length > 0 && items;
    },
    { what: 'a trace' },
  );
  return trace?.id ?? '';
}

/** What an operation could change. */
async function readState(): Promise<unknown> {
  const { items: keys } = (await read('/api/gateway-keys')) as { readonly items: readonly { readonly id: string }[] };
  return [keys.map(({ id }) => id), await read('/api/traces'), await readEvents()];
}

test('every operation that changes something leaves one audit event', async () => {
  const operations = (await readServedOperations(gateway)).filter(({ method }) => method !== 'GET');
  const names = new Set(operations.map(({ name }) => name));
  const wrong = Object.keys(CHANGES)
    .filter((name) => !names.has(name))
    .map((name) => `${name} is not served: remove it from ${THIS_TABLE}`);
  for (const { name, method } of operations) {
    const makeChange = CHANGES[name];
    if (makeChange === undefined) {
      wrong.push(`${name} is new: add a call that succeeds, and the audit event that it leaves, to ${THIS_TABLE}`);
      continue;
    }
    const { path, body, event } = await makeChange();
    const before = await readState();
    const id = `change-${crypto.randomUUID()}`;
    const response = await send(method, path, { body, id });
    await response.arrayBuffer();
    if (!response.ok) wrong.push(`${name} is ${response.status}: the call in ${THIS_TABLE} has to succeed`);
    const left = (await readEvents()).filter(({ correlation_id }) => correlation_id === id);
    const isRight = left.length === 1 && left.every((one) => one.action === event?.action && one.target === event.target);
    if (event !== undefined && !isRight)
      wrong.push(`${name} has to leave the audit event ${JSON.stringify(event)}, and left ${JSON.stringify(left)}`);
    for (const one of event === undefined ? [] : left)
      expect(one).toMatchObject({ actor: 'acme-owner', outcome: 'allow', reason: '', org_id: 'acme', workspace_id: 'search' });
    // `toEqual` shows what has changed.
    if (event === undefined) expect([name, await readState()]).toEqual([name, before]);
  }
  expect(wrong).toEqual([]);
});
