import { expect, test } from '@jest/globals';
import { readAllConfig } from './config.ts';

test('a key for commands in the same shell does not prevent the start, but an unknown variable does', () => {
  expect(readAllConfig(undefined, { VITRINE_GATEWAY_KEY: 'sgk_x' }).standalone.data.dir).toBe('./data');
  expect(() => readAllConfig(undefined, { VITRINE_DATA_DIRS: 'x' })).toThrow('VITRINE_DATA_DIRS: unknown variable');
});
