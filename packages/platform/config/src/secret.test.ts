import { expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { Secret } from './secret.ts';

test('a secret prints as ***, however it is printed, and is returned by reveal', () => {
  const secret = new Secret('hunter2');
  const printed = [String(secret), secret.toString(), JSON.stringify({ secret }), inspect({ secret }), inspect([secret])];
  expect(printed.join(' ')).not.toContain('hunter2');
  expect(printed[0]).toBe('***');
  expect(secret.reveal()).toBe('hunter2');
});
