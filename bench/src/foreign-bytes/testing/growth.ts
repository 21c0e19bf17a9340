import { threadCpuUsage } from 'node:process';
import { pumped, type Pump } from './pattern-pieces.ts';

/** Four times the input may take five times the time: a bit more than linear, for caches and collections. A square takes sixteen times. */
const MAX_RATIO = 5;
/** A function slower than this is dangerous even if it is linear. Replacing a finding in every word takes a tenth of it; a pattern that
 *  can share the
 *  digits of a number among six groups took a thousand times as long. */
const MAX_NS_PER_CHARACTER = 10_000;
const LENGTH = 32_768;
/** Shorter times are harmless and too short to be compared. */
const COMPARABLE_MS = 2;
const RUNS = 2;
/** A slower function is not measured on a longer input. */
const DECIDED_MS = 2_000;
/** Repeats of a measurement that shows too much. */
const ATTEMPTS = 3;
/** CPU time is counted in ticks of some milliseconds. */
const COUNTED_MS = 30;

export interface Growth {
  readonly ratio: number;
  readonly nsPerCharacter: number;
}

type Run = (text: string) => unknown;

/** How the time of a function grows from a quarter of an input to all of it; undefined when it takes almost no time. Measured first by the clock,
 *  which is fast. If that shows too much growth, other processes may have interfered, and the CPU time of this thread decides, several times, also
 *  from the input to one of four times its length. Compilation and collections affect one of them, a quadratic function both. */
export async function growthOf(run: Run, pump: Pump, form: (text: string) => string): Promise<Growth | undefined> {
  const long = form(pumped(pump, LENGTH));
  const short = form(pumped(pump, LENGTH / 4));
  const longMs = await wallMs(run, long);
  if (longMs < COMPARABLE_MS) return undefined;
  const shortMs = await leastWallMs(run, short);
  let growth = compared(shortMs, longMs > shortMs * MAX_RATIO * 4 ? longMs : await leastWallMs(run, long), long.length);
  for (let attempt = 0; attempt < ATTEMPTS && !isLinear(growth); attempt += 1) {
    const longCpuMs = await cpuMs(run, long);
    if (longCpuMs < COMPARABLE_MS) return undefined;
    growth = compared(await cpuMs(run, short), longCpuMs, long.length);
    if (isLinear(growth) || longCpuMs > DECIDED_MS) continue;
    const longer = form(pumped(pump, LENGTH * 4));
    const next = compared(longCpuMs, await cpuMs(run, longer), longer.length);
    if (next.ratio < growth.ratio) growth = next;
  }
  return growth;
}

export function isLinear({ ratio, nsPerCharacter }: Growth): boolean {
  return ratio <= MAX_RATIO && nsPerCharacter <= MAX_NS_PER_CHARACTER;
}

function compared(shortMs: number, longMs: number, length: number): Growth {
  return { ratio: longMs / shortMs, nsPerCharacter: (longMs * 1e6) / length };
}

async function leastWallMs(run: Run, text: string): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < RUNS; i += 1) least = Math.min(least, await wallMs(run, text));
  return least;
}

async function wallMs(run: Run, text: string): Promise<number> {
  const start = performance.now();
  await run(text);
  return performance.now() - start;
}

/** The mean of as many runs as are needed for the clock's resolution. */
async function cpuMs(run: Run, text: string): Promise<number> {
  const before = threadCpuUsage();
  let runs = 0;
  for (;;) {
    await run(text);
    runs += 1;
    const { user, system } = threadCpuUsage(before);
    if (user + system >= COUNTED_MS * 1_000) return (user + system) / 1_000 / runs;
  }
}
