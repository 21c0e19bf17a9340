import { expect, test } from '@jest/globals';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresProcess } from './postgres-process.ts';

test('a failed creation of a database leaves no partial data and no password', async () => {
  await using folder = await temporaryFolder('postgres-process');
  mkdirSync(join(folder.path, 'postgres', 'files of another program'), { recursive: true });
  const start = PostgresProcess.start({ folder: folder.path, port: 1, password: 'p' });
  await expect(start).rejects.toMatchObject({ code: 'stores_unusable', say: expect.stringContaining('ENOTEMPTY') });
  expect(readdirSync(folder.path).filter((name) => name.startsWith('postgres.'))).toEqual([]);
});
