import { expect, test } from '@jest/globals';
import { MIGRATIONS_FOLDER } from '@vitrine/testkit/template-database';
import { changedFiles } from '@vitrine/testkit/shipped-files';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

test('released migrations do not change; npm run golden adds new ones to migrations/SHA256SUMS', () => {
  const files = readdirSync(MIGRATIONS_FOLDER).map((file) => `sql/${file}`);
  const remedy = 'make the change in a new file with the next number';
  expect(changedFiles(join(MIGRATIONS_FOLDER, '../SHA256SUMS'), files, remedy)).toEqual([]);
});
