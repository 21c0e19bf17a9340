import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Returns a function that collects V8's young generation. It sets a flag of the whole process, so only a `main.ts` calls it. */
export function exposeMinorCollection(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  return () => collect({ type: 'minor' });
}

/** Resets `--min-semi-space-size` and `--max-semi-space-size` of the command line, which are meant for the main thread. Otherwise they would
 *  override the `resourceLimits` of every worker thread, which would keep 32 MiB of garbage. Only a `main.ts` calls it. */
export function freeWorkerSemiSpaces(): void {
  setFlagsFromString('--min-semi-space-size=0');
  setFlagsFromString('--max-semi-space-size=0');
}
