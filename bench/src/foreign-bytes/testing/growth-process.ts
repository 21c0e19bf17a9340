// A separate process, because in the realm of a jest test globals are so slow that everything takes ten times as long. Prints functions
// that are not linear.
import { GROWING_UNITS } from '../../hostile/growing-text.ts';
import { randomOf } from '../../hostile/random.ts';
import { constructedPatterns } from './constructed-patterns.ts';
import { plain } from './foreign-bytes-case.ts';
import { growthOf, isLinear } from './growth.ts';
import { pumpsOf, type Pump } from './pattern-pieces.ts';
import { importedBy, literalPatterns } from './production-patterns.ts';

// Constructed patterns are recorded while the functions are loaded.
const constructed = await constructedPatterns(() => import('./foreign-bytes.cases.ts'));
const { FOREIGN_BYTES } = await import('./foreign-bytes.cases.ts');
const patterns = [...literalPatterns(), ...constructed];

/** Number of generated inputs per function, always the same ones. */
const INPUTS = 4;
const SEED = 1;
const PUMPS: readonly Pump[] = [
  ...GROWING_UNITS.map((unit) => ({ start: '', unit })),
  { start: 'password: ', unit: '.' },
  { start: '', unit: `+${'1'.repeat(72)}a ` },
];

for (const { of, run, forms = [plain] } of FOREIGN_BYTES)
  for (const pump of pumpsFor(of))
    for (const form of forms) {
      const growth = await growthOf(run, pump, form);
      if (growth !== undefined && !isLinear(growth))
        console.log(`${of}: ${JSON.stringify(pump)} in form ${forms.indexOf(form)}: ${JSON.stringify(growth)}`);
    }

/** Inputs built from the patterns of the function's file and its imports. */
function pumpsFor(of: string): Pump[] {
  const files = importedBy(of.replace(/#.*/s, ''));
  const all = patterns.filter(({ file }) => files.has(file)).flatMap(({ source }) => pumpsOf(source));
  const distinct = [...new Map(all.map((pump) => [`${pump.start}\0${pump.unit}`, pump])).values()];
  const random = randomOf(SEED, 0);
  while (distinct.length > INPUTS) distinct.splice(random.int(distinct.length), 1);
  return [...PUMPS, ...distinct];
}
