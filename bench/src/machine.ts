import { availableParallelism, cpus, release, totalmem } from 'node:os';

/** The machine of a result. Numbers of two machines are not comparable, but ratios nearly are. */
export function machine() {
  return {
    node: process.versions.node,
    platform: `${process.platform} ${release()}`,
    arch: process.arch,
    cpus: availableParallelism(),
    cpu_model: cpus()[0]?.model.trim() ?? 'unknown',
    memory_mib: Math.round(totalmem() / 2 ** 20),
  };
}
