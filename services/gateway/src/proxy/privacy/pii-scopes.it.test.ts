import { expect, test } from '@jest/globals';
import { rawExchange } from '../../testing/raw-exchange.ts';
import { startTestGateway } from '../../testing/start-test-gateway.ts';

const BODY = Buffer.from(JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'alice@example.com' }] }));

test('a scope applies to the callers that it names', async () => {
  const key = (id: string, workspace: string) =>
    `{ id: ${id}, token: sgk_0123456789-0123456789-${id}, org_id: o, workspace_id: ${workspace}, role: developer }`;
  await using guarded = await startTestGateway(
    { SVC_TRACING_CAPTURE_BODIES: 'true' },
    `
auth: { enabled: true, store: file, keys: [${key('gk_one', 'w')}, ${key('gk_two', 'w')}, ${key('gk_three', 'x')}] }
pii:
  scopes:
    - { match: { workspace_id: w }, mode: block }
    - { match: { workspace_id: w, key_id: gk_two }, mode: redact_storage }
`,
  );
  const status = async (id: string) => {
    const headers = {
      'x-svc-gateway-key': `sgk_0123456789-0123456789-${id}`,
      authorization: 'Bearer sk-provider-01234abcd',
      'content-type': 'application/json',
      'x-mock-scenario': 'echo',
    };
    return (await rawExchange(`${guarded.url}/openai/v1/x`, { body: BODY, headers })).status;
  };
  expect([await status('gk_one'), await status('gk_two'), await status('gk_three')]).toEqual([403, 200, 200]);
  const denials = guarded.log
    .map((line) => (JSON.parse(line) as { audit?: object }).audit)
    .filter((audit) => audit !== undefined);
  expect(denials).toEqual([expect.objectContaining({ actor: 'gk_one', workspace_id: 'w', reason: 'pii_detected' })]);
});
