import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

test('four times the foreign bytes take at most five times the time, in every function that reads them', async () => {
  const file = fileURLToPath(new URL('./testing/growth-process.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  expect(stdout).toBe('');
}, 600_000);
