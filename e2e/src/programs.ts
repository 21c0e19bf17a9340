import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describeUnless } from './describe-unless.ts';

export interface ProgramResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
export function runProgram(name: string, args: readonly string[], input = ''): ProgramResult {
  const result = spawnSync(programPath(name), args, { input, encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
  if (result.error !== undefined) throw result.error;
  return result;
}

/** Where a program is: the variable of its name in capitals (HELM3, KUBE_SCORE) says it, else it is in a folder of PATH. */
export function programPath(name: string): string {
  const path = findProgram(name);
  if (path === undefined) throw new Error(`${name} is not installed`);
  return path;
}

/** Programs that cannot be run here. */
export function missingPrograms(names: readonly string[]): readonly string[] {
  return names.filter((name) => findProgram(name) === undefined);
}

/** `describe` if the programs can be run and nothing else prevents it (`error`). */
export function describeWithPrograms(names: readonly string[], title: string, tests: () => void, error?: string): void {
  const missing = missingPrograms(names);
  describeUnless(missing.length > 0 ? `not installed: ${missing.join(', ')}` : error, title, tests);
}

function findProgram(name: string): string | undefined {
  const named = process.env[name.toUpperCase().replaceAll('-', '_')];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return [...(named === undefined ? [] : [named]), ...folders.map((folder) => join(folder, name))].find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
