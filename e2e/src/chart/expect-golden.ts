import { expect } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';

/** Compares a file with its text; `npm run golden` rewrites it. */
export function expectGolden(file: string, text: string): void {
  if (process.env['GOLDEN'] === 'write') writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
}
