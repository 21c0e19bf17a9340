import { setFlagsFromString } from 'node:v8';

/** Resets `--min-semi-space-size` and `--max-semi-space-size` of the command line, which are meant for the main thread. Otherwise they would
 *  override the `resourceLimits` of every worker thread, which would keep 32 MiB of garbage. Only a `main.ts` calls it. */
export function freeWorkerSemiSpaces(): void {
  setFlagsFromString('--min-semi-space-size=0');
  setFlagsFromString('--max-semi-space-size=0');
}
