// The order of test files. Where jest has measured none yet, it begins with the largest files, and the smallest one, which measures growth for a
// minute, would run last and alone.
import TestSequencer from '@jest/test-sequencer';

const LONG_RINGS = new Set(['growth', 'e2e']);

export default class LongRingsFirstSequencer extends TestSequencer {
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- not a method of an array
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}

function isLong({ context }) {
  return LONG_RINGS.has(context.config.displayName?.name);
}
