import type { KubeConfig } from '@kubernetes/client-node';
import type { Secret } from '@vitrine/config/secret';
import { npmScript } from '@vitrine/testkit/npm-script';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asOperator, PEPPER } from './start-test-operator.ts';

/** The operator as a separate process, which can be stopped by a signal. */
export interface OperatorProcess extends AsyncDisposable {
  readonly log: readonly string[];
  readonly ended: Promise<number | null>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

/** `folder`: for its files. `dsn`: with the rights of any user. Its lease duration equals that in a cluster. */
export async function startOperatorProcess(folder: string, kubeConfig: KubeConfig, dsn: Secret): Promise<OperatorProcess> {
  const [kubeconfigPath, pepperPath] = [join(folder, 'kubeconfig'), join(folder, 'gateway-keys.pepper')];
  await writeFile(kubeconfigPath, kubeConfig.exportConfig());
  await writeFile(pepperPath, `${PEPPER}\n`);
  const [file, ...args] = npmScript('operator');
  const env = {
    KUBECONFIG: kubeconfigPath,
    OPERATOR_SERVER_HOST: '127.0.0.1',
    OPERATOR_SERVER_PORT: '0',
    OPERATOR_NAMESPACE: 'vitrine',
    OPERATOR_STORAGE_DSN: asOperator(dsn).reveal(),
    OPERATOR_AUTH_PEPPER_PATH: pepperPath,
  };
  const child = spawn(file, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const log: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => log.push(text));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    log,
    ended,
    signal: (name) => void child.kill(name),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
