import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readGatewayConfig } from '../../config.ts';
import { checkAuth } from './auth-check.ts';

test('the key database of an earlier version is counted and left unchanged', async () => {
  await using folder = await temporaryFolder('auth-check');
  const path = join(folder.path, 'gateway-keys.db');
  {
    using database = new DatabaseSync(path);
    const tables = new URL('../../../../../packages/access/gateway-keys/src/sqlite/testdata/keys-schema-1.sql', import.meta.url);
    database.exec(readFileSync(tables, 'utf8'));
    database.exec(
      `INSERT INTO gateway_keys (id, org_id, workspace_id, role, permissions, created_at, pepper_version, token_mac, revision)
       VALUES ('k', 'o', 'w', 'owner', '', 1, 1, x'00', 1)`,
    );
  }
  writeFileSync(join(folder.path, 'gateway-keys.pepper'), `1:${'p'.repeat(32)}\n`);
  const before = readFileSync(path);
  const env = { SVC_AUTH_ENABLED: 'true', SVC_STORAGE_PATH: join(folder.path, 'traces.db') };
  const check = await checkAuth(readGatewayConfig(undefined, env), []);
  expect(check).toMatchObject({ status: 'pass', details: ['header: X-Svc-Gateway-Key', 'keys: 1 (1 may manage keys)'] });
  expect(readFileSync(path).equals(before)).toBe(true);
});
