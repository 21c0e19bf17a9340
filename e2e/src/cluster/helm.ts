import { missingPrograms } from '../programs.ts';
import type { Kubectl } from './kubectl.ts';
import { runCommand, type CommandOptions } from './run-command.ts';

/** `--wait` of Helm gives up before the command is killed. */
const WAIT_SECONDS = 180;
const COMMAND_TIMEOUT_MS = 240_000;

/** Programs of both majors where one of them is installed, else `helm`, which may be missing: `clusterError` says so. */
export function helmPrograms(): readonly string[] {
  const majors = ['helm3', 'helm4'].filter((name) => missingPrograms([name]).length === 0);
  return majors.length > 0 ? majors : ['helm'];
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
