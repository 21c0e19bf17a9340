import { expect, test } from '@jest/globals';
import { OLD_CONFIG } from '../../testing/old-config-file.ts';
import { startTestGateway } from '../../testing/start-test-gateway.ts';

test('an old header and an old token are accepted when auth.header names the header, and neither is forwarded or stored', async () => {
  const { header } = OLD_CONFIG.auth;
  const key = { id: 'k1', token: OLD_CONFIG.auth.keys[0]?.token ?? '', role: 'developer' };
  const text = JSON.stringify({ auth: { enabled: true, header, keys: [key] } });
  await using gateway = await startTestGateway({}, text);
  const chat = (token: string) =>
    fetch(`${gateway.url}/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test-0123456789', 'content-type': 'application/json', [header]: token },
      body: '{"model":"gpt-4o-mini","messages":[]}',
    });
  expect([(await chat('ogk_wrong')).status, (await chat(key.token)).status]).toEqual([401, 200]);
  const [received] = gateway.openai.received;
  expect(received?.rawHeaders.join('\n').toLowerCase()).not.toMatch(/ongoingai|ogk_/);
  const list = await fetch(`${gateway.url}/api/traces`, { headers: { [header]: key.token } });
  expect(list.status).toBe(200);
  expect(gateway.log.join('')).not.toContain(key.token);
});
