import type { Kubectl } from './kubectl.ts';
import type { OutsideStores } from './upgrade/outside-stores.ts';

const SHOWN = 20;

/** Waits until every request `NAME-0` to `NAME-(sent - 1)` has its trace; resolves with those that have none in the end. */
export async function untracedModels(
  kubectl: Kubectl,
  stores: OutsideStores,
  expected: readonly string[],
  withinMs: number,
): Promise<readonly string[]> {
  const missing = async () => {
    const traced = new Set(await stores.query("SELECT model FROM traces WHERE model ~ '-[0-9]+$'"));
    return expected.filter((model) => !traced.has(model));
  };
  await kubectl.until('all traces', withinMs, async () => (await missing()).length === 0).catch(() => undefined);
  return (await missing()).slice(0, SHOWN);
}

/** The models of the requests of a load, from one to before another. */
export const modelsOf = (name: string, to: number, from = 0): readonly string[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => `${name}-${from + at}`);
