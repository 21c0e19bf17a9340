import { describe, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';

/** Programs by their name: the variable of that name in capitals (HELM3, KUBE_SCORE) says where one is, else it is one of PATH. */
export function programOf(name: string): string {
  return process.env[name.toUpperCase().replaceAll('-', '_')] ?? name;
}

export interface ProgramResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function runProgram(name: string, args: readonly string[], input = ''): ProgramResult {
  const result = spawnSync(programOf(name), args, { input, encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
  if (result.error !== undefined) throw result.error;
  return result;
}

/** `describe` where the programs can be run and `error` is undefined. Otherwise its tests are reported as skipped; in CI that is a failure. */
export function describeWithPrograms(names: readonly string[], title: string, tests: () => void, error?: string): void {
  const missing = names.filter((name) => spawnSync(programOf(name), ['version']).error !== undefined);
  const reason = missing.length > 0 ? `${missing.join(', ')}: not in PATH, nor named by a variable` : error;
  if (reason === undefined) return describe(title, tests);
  if (process.env['CI'] !== undefined) {
    return test(title, () => {
      throw new Error(reason);
    });
  }
  process.stderr.write(`SKIPPED, ${reason}: ${title}\n`);
  describe.skip(title, tests);
}
