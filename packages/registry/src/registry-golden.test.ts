import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { REGISTRY_CHECKSUM } from './registry-checksum.ts';

/** Whoever changes the registry sees here that all clients will see another checksum. */
const GOLDEN = new URL('./testdata/registry-checksum.txt', import.meta.url);

test('the checksum of the registry is the golden one; npm run golden rewrites it', () => {
  const text = `${REGISTRY_CHECKSUM}\n`;
  if (process.env['GOLDEN'] === 'write') writeFileSync(GOLDEN, text);
  expect(readFileSync(GOLDEN, 'utf8')).toBe(text);
  expect(text).toMatch(/^sha256:[0-9a-f]{64}\n$/);
});
