import { expect, test } from '@jest/globals';
import { codeOf, messageOf } from '@vitrine/faults/fault';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPepperFile } from './pepper-file.ts';

const NOW = Date.UTC(2026, 0, 1);
const thrownBy = (open: () => unknown): unknown => {
  try {
    open();
  } catch (error) {
    return error;
  }
  throw new Error('did not throw');
};

test('is created once, readable by its owner only, and stays the same', async () => {
  await using folder = await temporaryFolder('pepper');
  const path = join(folder.path, 'gateway-keys.pepper');
  const [made] = openPepperFile(path, randomBytes, NOW);
  const [again] = openPepperFile(path, randomBytes, NOW + 60_000);
  expect(again?.secret.reveal()).toBe(made?.secret.reveal());
  expect(again?.version).toBe(NOW / 1_000);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder.path)).toEqual(['gateway-keys.pepper']);
});

test('a full disk leaves no temporary file, and leftovers of a killed process are removed a minute later', async () => {
  await using folder = await temporaryFolder('pepper');
  const path = join(folder.path, 'gateway-keys.pepper');
  const module = new URL('./pepper-file.ts', import.meta.url).href;
  const open = `import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
    const { openPepperFile } = await import(${JSON.stringify(module)});
    openPepperFile(${JSON.stringify(path)}, randomBytes, Date.now());`;
  // Writing any byte fails as on a full disk, because the file size limit is 0 and its signal is ignored.
  const limited = `trap '' XFSZ; ulimit -f 0; exec "$0" --no-warnings --input-type=module --eval "$1"`;
  const { status, stderr } = spawnSync('sh', ['-c', limited, process.execPath, open], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('EFBIG')]);
  expect(readdirSync(folder.path)).toEqual([]);

  const names = [
    'gateway-keys.pepper.0123456789ab',
    'gateway-keys.pepper.0123456789abc',
    'gateway-keys.pepper.old',
    'other.0123456789ab',
  ];
  for (const name of names) writeFileSync(join(folder.path, name), 'x');
  openPepperFile(path, randomBytes, Date.now());
  expect(readdirSync(folder.path).toSorted()).toEqual(['gateway-keys.pepper', ...names]);
  openPepperFile(path, randomBytes, Date.now() + 61_000);
  expect(readdirSync(folder.path).toSorted()).toEqual(['gateway-keys.pepper', ...names.slice(1)]);
});

test('a readable pepper is used even if leftover files cannot be removed', async () => {
  await using folder = await temporaryFolder('pepper');
  const path = join(folder.path, 'gateway-keys.pepper');
  const [made] = openPepperFile(path, randomBytes, Date.now());
  const other = `${path}.0123456789ab`;
  mkdirSync(other);
  utimesSync(other, 1, 1);
  expect(openPepperFile(path, randomBytes, Date.now())[0]?.secret.reveal()).toBe(made?.secret.reveal());
  // Root may list any folder.
  chmodSync(folder.path, 0o311);
  expect(openPepperFile(path, randomBytes, Date.now())[0]?.secret.reveal()).toBe(made?.secret.reveal());
  chmodSync(folder.path, 0o700);
});

test('peppers may be separated by commas, as in a variable set from a Secret', async () => {
  await using folder = await temporaryFolder('pepper');
  const path = join(folder.path, 'gateway-keys.pepper');
  writeFileSync(path, `2:${'b'.repeat(32)},1:${'a'.repeat(32)}\n`);
  expect(openPepperFile(path, randomBytes, NOW).map(({ version }) => version)).toEqual([2, 1]);
});

test('a pepper on a new first line is for new hashes, and the old one stays', async () => {
  await using folder = await temporaryFolder('pepper');
  const path = join(folder.path, 'gateway-keys.pepper');
  writeFileSync(path, `2:${'b'.repeat(32)}\n\n1:${'a'.repeat(32)}\n`);
  expect(openPepperFile(path, randomBytes, NOW).map(({ version }) => version)).toEqual([2, 1]);
});

test.each([
  ['an empty file', ''],
  ['another file', 'these are my notes'],
])('%s is a fault that names the file and the line, but not the content', async (_, text) => {
  await using folder = await temporaryFolder('pepper');
  const path = join(folder.path, 'gateway-keys.pepper');
  writeFileSync(path, text);
  const error = thrownBy(() => openPepperFile(path, randomBytes, NOW));
  expect(codeOf(error)).toBe('pepper_unusable');
  expect(messageOf(error)).toContain(`${path}: line 1 must be VERSION:SECRET`);
  expect(messageOf(error)).not.toContain('notes');
});

test('a folder that is not writable is a fault', async () => {
  await using folder = await temporaryFolder('pepper');
  chmodSync(folder.path, 0o500);
  expect(codeOf(thrownBy(() => openPepperFile(join(folder.path, 'none', 'p'), randomBytes, NOW)))).toBe('pepper_unusable');
});
