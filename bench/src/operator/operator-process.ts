import type { Secret } from '@vitrine/config/secret';
import { startProcess, type RunningProcess } from '@vitrine/e2e/running-process';
import { npmScript } from '@vitrine/testkit/npm-script';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The process of the operator, with its measurements. */
export interface MeasuredOperator extends AsyncDisposable {
  /** Passes of GatewayKeys so far. */
  passes(): Promise<{ readonly success: number; readonly other: number }>;
  /** MiB. */
  peakRss(): Promise<number>;
}

export interface OperatorPlace {
  readonly kubeconfig: string;
  /** Its own namespace, and the only one that it serves. */
  readonly namespace: string;
  readonly dsn: Secret;
  /** For its files. */
  readonly folder: string;
  readonly port: number;
}

export async function startMeasuredOperator({
  kubeconfig,
  namespace,
  dsn,
  folder,
  port,
}: OperatorPlace): Promise<MeasuredOperator> {
  const pepperPath = join(folder, 'pepper');
  await writeFile(pepperPath, `1:${randomBytes(24).toString('hex')}\n`);
  const url = new URL(dsn.reveal());
  url.searchParams.set('options', '-c role=vitrine_operator');
  const operator: RunningProcess = startProcess({
    command: npmScript('operator'),
    env: {
      KUBECONFIG: kubeconfig,
      OPERATOR_SERVER_HOST: '127.0.0.1',
      OPERATOR_SERVER_PORT: String(port),
      OPERATOR_NAMESPACE: namespace,
      OPERATOR_WATCH_NAMESPACES: namespace,
      OPERATOR_STORAGE_DSN: url.href,
      OPERATOR_AUTH_PEPPER_PATH: pepperPath,
    },
  });
  const read = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return {
    async passes() {
      if (!operator.isRunning) throw new Error(`the operator has ended:\n${operator.stdout.slice(-4_000)}${operator.stderr}`);
      const found = { success: 0, other: 0 };
      // It does not listen immediately.
      for (const line of (await read().catch(() => '')).split('\n')) {
        if (!line.startsWith('controller_runtime_reconcile_total{') || !line.includes('controller="gatewaykey"')) continue;
        found[line.includes('result="success"') ? 'success' : 'other'] += Number(line.split(' ')[1]);
      }
      return found;
    },
    async peakRss() {
      const [, kib = '0'] = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${operator.pid}/status`, 'utf8')) ?? [];
      return Number(kib) / 1_024;
    },
    [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose](),
  };
}
