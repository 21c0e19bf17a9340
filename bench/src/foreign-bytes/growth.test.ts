import { describe, expect, test } from '@jest/globals';
import { GROWING_UNITS } from '../hostile/growing-text.ts';
import { randomOf } from '../hostile/random.ts';
import type { ForeignBytesCase } from './testing/foreign-bytes-case.ts';
import { plain } from './testing/foreign-bytes-case.ts';
import { constructedPatterns } from './testing/constructed-patterns.ts';
import { growthOf, isLinear } from './testing/growth.ts';
import { pumpsOf, type Pump } from './testing/pattern-pieces.ts';
import { importedBy, literalPatterns } from './testing/production-patterns.ts';

// Patterns that are made of texts are recorded while the functions are loaded.
const constructed = await constructedPatterns(() => import('./testing/foreign-bytes.cases.ts'));
const { FOREIGN_BYTES } = await import('./testing/foreign-bytes.cases.ts');
const patterns = [...literalPatterns(), ...constructed];

/** Of every function so many generated inputs are tried, always the same ones. */
const INPUTS = 10;
const SEED = 1;
const PUMPS: readonly Pump[] = [
  ...GROWING_UNITS.map((unit) => ({ start: '', unit })),
  { start: 'password: ', unit: '.' },
  { start: '', unit: `+${'1'.repeat(72)}a ` },
];

describe('four times the bytes take at most five times the time', () => {
  test.each(FOREIGN_BYTES.map((one) => [one.of, one] as const))('%s', async (_, { of, run, forms = [plain] }) => {
    const slow: string[] = [];
    for (const pump of pumpsFor(of))
      for (const form of forms) {
        const growth = await growthOf(run, pump, form);
        if (growth !== undefined && !isLinear(growth))
          slow.push(`${JSON.stringify(pump)} in form ${forms.indexOf(form)}: ${JSON.stringify(growth)}`);
      }
    expect(slow).toEqual([]);
  });
});

/** Inputs made of the patterns of the function's file and of what it imports. */
function pumpsFor(of: ForeignBytesCase['of']): Pump[] {
  const files = importedBy(of.replace(/#.*/s, ''));
  const all = patterns.filter(({ file }) => files.has(file)).flatMap(({ source }) => pumpsOf(source));
  const distinct = [...new Map(all.map((pump) => [`${pump.start}\0${pump.unit}`, pump])).values()];
  const random = randomOf(SEED, 0);
  while (distinct.length > INPUTS) distinct.splice(random.int(distinct.length), 1);
  return [...PUMPS, ...distinct];
}
