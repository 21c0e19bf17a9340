import { expect, test } from '@jest/globals';
import { didYouMean } from './did-you-mean.ts';

const KNOWN = ['serve', 'report', 'keys create', '--format', '--from', 'doctor', 'SVC_SERVER_PORT'];

test.each([
  ['reprot', 'report'],
  ['repor', 'report'],
  ['sevre', 'serve'],
  ['keys creat', 'keys create'],
  ['--fromat', '--format'],
  ['--frm', '--from'],
  ['docter', 'doctor'],
  ['SVC_SERVER_PROT', 'SVC_SERVER_PORT'],
])('%s is near %s', (word, known) => {
  expect(didYouMean(word, KNOWN)).toBe(`; did you mean ${known}?`);
});

test.each(['paint', 'x', '', 'SVC_SERVICE_SPOT', 'reporting', 'report'.repeat(1_000)])('%s is near nothing', (word) => {
  expect(didYouMean(word, KNOWN)).toBe('');
});
