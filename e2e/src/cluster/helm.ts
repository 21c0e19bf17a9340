import { delimiter, join } from 'node:path';
import { accessSync, constants } from 'node:fs';
import type { Kubectl } from './kubectl.ts';
import { runCommand, type CommandOptions } from './run-command.ts';

/** `--wait` of Helm gives up before the command is killed. */
const WAIT_SECONDS = 180;
const COMMAND_TIMEOUT_MS = 240_000;

/** Programs of both majors, or the one that is installed, whichever it is. */
export function installedHelms(): readonly string[] {
  const majors = ['helm3', 'helm4'].filter(isInstalled);
  return majors.length > 0 ? majors : ['helm'].filter(isInstalled);
}

export function isInstalled(program: string): boolean {
  return findProgram(program) !== undefined;
}

/** Where a program is. */
export function programPath(program: string): string {
  const path = findProgram(program);
  if (path === undefined) throw new Error(`${program} is not installed`);
  return path;
}

function findProgram(program: string): string | undefined {
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, program));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export interface Release {
  readonly name: string;
  /** Folder of the chart. */
  readonly chart: string;
  readonly values: object;
}

/** One Helm in the namespace of `kubectl`. Values go by standard input, so that no secret of theirs is an argument. */
export class Helm {
  readonly program: string;
  readonly #kubectl: Kubectl;

  constructor(program: string, kubectl: Kubectl) {
    this.program = program;
    this.#kubectl = kubectl;
  }

  install({ name, chart, values }: Release): Promise<string> {
    return this.#change(['install', name, chart], values);
  }

  upgrade({ name, chart, values }: Release): Promise<string> {
    return this.#change(['upgrade', name, chart], values);
  }

  uninstall(name: string): Promise<string> {
    return this.#kubectl.explain(this.run(['uninstall', name, '--wait', `--timeout=${WAIT_SECONDS}s`]));
  }

  run(args: readonly string[], options: CommandOptions = {}): Promise<string> {
    const all = ['--namespace', this.#kubectl.namespace, ...args];
    return runCommand(this.program, all, { timeoutMs: COMMAND_TIMEOUT_MS, ...options, env: this.#kubectl.env });
  }

  #change(args: readonly string[], values: object): Promise<string> {
    const all = [...args, '--values', '-', '--wait', `--timeout=${WAIT_SECONDS}s`];
    return this.#kubectl.explain(this.run(all, { input: JSON.stringify(values) }));
  }
}
