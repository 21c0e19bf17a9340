import { waitUntil } from '@vitrine/testkit/wait-until';
import { startProcess, type RunningProcess } from '../running-process.ts';
import { runCommand, type CommandOptions } from './run-command.ts';

const REQUEST_TIMEOUT_MS = 30_000;
const SHOWN_EVENTS = 40;
const SHOWN_LOG_LINES = 40;

/** The fields of an API object that tests read. */
export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly creationTimestamp: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
}

interface Pod extends KubernetesObject {
  readonly spec: { readonly containers: readonly { readonly name: string }[] };
  readonly status: { readonly phase: string; readonly containerStatuses?: readonly { readonly ready: boolean }[] };
}

/** A port of a Service or a pod on this machine. */
export interface PortForward extends AsyncDisposable {
  readonly url: string;
}

/** `kubectl` with the credentials of one cluster, in one namespace. */
export class Kubectl {
  readonly kubeconfig: string;
  readonly namespace: string;

  constructor(kubeconfig: string, namespace: string) {
    this.kubeconfig = kubeconfig;
    this.namespace = namespace;
  }

  get env(): Record<string, string | undefined> {
    return { ...process.env, KUBECONFIG: this.kubeconfig };
  }

  in(namespace: string): Kubectl {
    return new Kubectl(this.kubeconfig, namespace);
  }

  run(args: readonly string[], options: CommandOptions = {}): Promise<string> {
    const all = ['--namespace', this.namespace, ...args];
    return runCommand('kubectl', all, { timeoutMs: REQUEST_TIMEOUT_MS, ...options, env: this.env });
  }

  async get<T = KubernetesObject>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.run(['get', ...args, '--output', 'json'])) as T;
  }

  /** The objects of a kind. */
  async list<T = KubernetesObject>(...args: readonly string[]): Promise<readonly T[]> {
    return (await this.get<{ readonly items: readonly T[] }>(...args)).items;
  }

  /** Creates or changes objects. Server-side, because the client's way repeats an object in an annotation, which holds 256 KiB. */
  apply(...objects: readonly object[]): Promise<string> {
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    return this.run(['apply', '--server-side', '--filename', '-'], { input: JSON.stringify(list) });
  }

  /** A value of a Secret, decoded. */
  async secretValue(name: string, key: string): Promise<string> {
    const { data } = await this.get<{ readonly data: Readonly<Record<string, string>> }>('secret', name);
    const value = data[key];
    if (value === undefined) throw new Error(`the Secret ${name} has no key ${key}, but ${Object.keys(data).join(', ')}`);
    return Buffer.from(value, 'base64').toString();
  }

  /** Waits; a failure includes the logs of the namespace's pods. */
  async wait(condition: string, what: readonly string[], timeoutMs: number): Promise<void> {
    const args = ['wait', `--for=${condition}`, ...what, `--timeout=${Math.ceil(timeoutMs / 1_000)}s`];
    await this.explain(this.run(args, { timeoutMs: timeoutMs + REQUEST_TIMEOUT_MS }));
  }

  async rollout(workload: string, timeoutMs: number): Promise<void> {
    const args = ['rollout', 'status', workload, `--timeout=${Math.ceil(timeoutMs / 1_000)}s`];
    await this.explain(this.run(args, { timeoutMs: timeoutMs + REQUEST_TIMEOUT_MS }));
  }

  /** Runs a program in a pod, named as `kubectl exec` names it: `deployment/x`. */
  exec(pod: string, command: readonly string[], options: CommandOptions = {}): Promise<string> {
    return this.run(['exec', '--stdin', pod, '--', ...command], options);
  }

  async forward(target: string, port: number): Promise<PortForward> {
    const command = ['kubectl', '--namespace', this.namespace, 'port-forward', target, `:${port}`] as const;
    const forward: RunningProcess = startProcess({ command: [...command], env: { KUBECONFIG: this.kubeconfig } });
    try {
      const [, local = ''] = await forward.says(/127\.0\.0\.1:(\d+) ->/);
      return { url: `http://127.0.0.1:${local}`, [Symbol.asyncDispose]: () => forward[Symbol.asyncDispose]() };
    } catch (error) {
      await forward[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Adds diagnostic data to the error of a failed step. */
  async explain<T>(step: Promise<T>): Promise<T> {
    try {
      return await step;
    } catch (error) {
      const report = await this.report().catch((failure: unknown) => `no report: ${String(failure)}`);
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${report}`, { cause: error });
    }
  }

  /** Pods, events, and the logs of pods that are not ready. */
  async report(): Promise<string> {
    const pods = await this.list<Pod>('pods');
    const table = await this.run(['get', 'pods,jobs', '--output', 'wide']);
    const events = await this.run(['get', 'events', '--sort-by=.lastTimestamp', '--no-headers']);
    const failing = pods.filter(({ status }) => status.phase !== 'Succeeded' && !isReady(status));
    const logs = failing.map(async ({ metadata: { name } }) => {
      const args = ['logs', name, '--all-containers', `--tail=${SHOWN_LOG_LINES}`];
      const previous = await this.run([...args, '--previous']).catch(() => '');
      return `log of ${name}:\n${previous}${await this.run(args).catch(String)}`;
    });
    const shown = events.trimEnd().split('\n').slice(-SHOWN_EVENTS).join('\n');
    return [`namespace ${this.namespace}`, table, shown, ...(await Promise.all(logs))].join('\n');
  }

  /** Polls until `check` returns a value other than undefined or false. A failure includes the logs of the pods. */
  until<T>(what: string, timeoutMs: number, check: () => Promise<T | undefined | false>): Promise<T> {
    return this.explain(waitUntil(check, { what, timeoutMs }));
  }
}

function isReady({ containerStatuses = [] }: Pod['status']): boolean {
  return containerStatuses.length > 0 && containerStatuses.every(({ ready }) => ready);
}
