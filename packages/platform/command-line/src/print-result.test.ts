import { expect, test } from '@jest/globals';
import { textTable } from './print-result.ts';

test('a table is aligned, and no cell can move the cursor', () => {
  expect(
    textTable(
      ['A', 'LONG'],
      [
        ['\u001b[2Jx', '1'],
        ['y', ''],
      ],
    ),
  ).toBe('A      LONG\n?[2Jx  1\ny\n');
});
