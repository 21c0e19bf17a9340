import { expect, test } from '@jest/globals';
import { didYouMean } from './nearest.ts';

const KNOWN = ['serve', 'report', 'keys create', '--format', '--from', 'doctor'];

test.each([
  ['reprot', 'report'],
  ['repor', 'report'],
  ['sevre', 'serve'],
  ['keys creat', 'keys create'],
  ['--fromat', '--format'],
  ['--frm', '--from'],
  ['docter', 'doctor'],
])('%s is near %s', (word, known) => {
  expect(didYouMean(word, KNOWN)).toBe(`; did you mean ${known}?`);
});

test.each(['paint', 'x', '', 'reporting', 'report'.repeat(1_000)])('%s is near nothing', (word) => {
  expect(didYouMean(word, KNOWN)).toBe('');
});
