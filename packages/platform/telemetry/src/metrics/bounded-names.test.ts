import { describe, expect, test } from '@jest/globals';
import { BoundedNames } from './bounded-names.ts';

describe('BoundedNames', () => {
  test('unproven names fill at most a quarter, proven names the rest; all others are counted as other', () => {
    const names = new BoundedNames(8);
    const label = (name: string, isProven: boolean) => names.labelOf(name, isProven);
    expect(['a', 'b', 'c'].map((name) => label(name, false))).toEqual(['a', 'b', 'other']);
    expect(['c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => label(name, true))).toEqual(['c', 'd', 'e', 'f', 'g', 'h', 'other']);
    expect(label('c', false)).toBe('c');
    expect(names.collapsed).toBe(2);
  });

  test('a label is trimmed, scrubbed and at most 128 characters long', () => {
    const names = new BoundedNames(8);
    expect(names.labelOf(` ${'m'.repeat(500)} `, true)).toBe('m'.repeat(128));
    expect(names.labelOf('sk-proj-canary0123456789', true)).toBe('[CREDENTIAL_REDACTED]');
    expect([names.labelOf(undefined, true), names.labelOf('', true), names.labelOf('  ', true)]).toEqual([
      'unknown',
      'unknown',
      'unknown',
    ]);
  });
});
