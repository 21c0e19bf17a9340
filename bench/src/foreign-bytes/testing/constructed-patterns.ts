import { productionFiles, type ProductionPattern } from './production-patterns.ts';

/** The distinct patterns constructed by `new RegExp` in production code while `load` runs, which excludes literals. */
export async function constructedPatterns(load: () => Promise<unknown>): Promise<readonly ProductionPattern[]> {
  const recorded = new Map<string, ProductionPattern>();
  const Original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(Original, {
    construct(target, args: ConstructorParameters<typeof RegExp>, newTarget) {
      const pattern = Reflect.construct(target, args, newTarget) as RegExp;
      const file = callerIn(new Error().stack ?? '');
      if (file !== undefined) recorded.set(`${file} ${pattern.source}`, { file, source: pattern.source, flags: pattern.flags });
      return pattern;
    },
  });
  try {
    await load();
  } finally {
    globalThis.RegExp = Original;
  }
  return [...recorded.values()];
}

/** The file of production code that is next on the stack. */
function callerIn(stack: string): string | undefined {
  return stack
    .split('\n')
    .map((line) => productionFiles.find((file) => line.includes(`/${file}:`)))
    .find((file) => file !== undefined);
}
