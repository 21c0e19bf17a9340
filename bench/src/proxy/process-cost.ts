import { readFileSync } from 'node:fs';

/** USER_HZ, which Linux fixes at 100 for what it shows in /proc. */
const MICROS_PER_TICK = 10_000;

/** CPU time (user and system, all threads) that a process has used, in steps of 10 ms; undefined where there is no /proc. */
export function cpuMicrosOf(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name before ") " may contain anything. After it utime and stime are the 12th and 13th field.
  const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK;
}

/** Resident memory in MiB; undefined where there is no /proc. */
export function rssMibOf(pid: number): number | undefined {
  const line = /^VmRSS:\s*(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '');
  return line === null ? undefined : Number(line[1]) / 1024;
}

/** Samples a process's memory until `stop`, which returns the samples, or until it is disposed of. */
export function sampleRss(pid: number, everyMs: number): Disposable & { stop(): number[] } {
  const samples: number[] = [];
  const sample = () => {
    const mib = rssMibOf(pid);
    if (mib !== undefined) samples.push(mib);
  };
  const timer = setInterval(sample, everyMs);
  return {
    stop() {
      clearInterval(timer);
      sample();
      return samples;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
