import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineError, startK3s } from '../environment.ts';
import { missingPrograms } from '../programs.ts';
import { helmPrograms } from './helm.ts';
import { runCommand } from './run-command.ts';

const LOAD_TIMEOUT_MS = 300_000;

/** The cluster that tests run on. Disposal removes only resources started for them. */
export interface TestCluster extends AsyncDisposable {
  readonly kubeconfig: string;
  /** Copies images of the container engine to its nodes. */
  load(images: readonly string[]): Promise<void>;
}

/** Why no journey can run here; undefined if one can. Images are built, so an engine is always needed. */
export async function clusterError(): Promise<string | undefined> {
  const missing = missingPrograms(['kubectl', ...helmPrograms()]);
  if (missing.length > 0) return `not installed: ${missing.join(', ')}`;
  return engineError();
}

/** The cluster of KUBECONFIG, with VITRINE_CLUSTER_LOAD as the command that takes names of images; else K3s in a container. */
export async function openCluster(): Promise<TestCluster> {
  const kubeconfig = process.env['KUBECONFIG'];
  if (kubeconfig === undefined || kubeconfig === '') return openK3s();
  const command = process.env['VITRINE_CLUSTER_LOAD'];
  if (command === undefined) {
    throw new Error(
      'set VITRINE_CLUSTER_LOAD to the command that copies images of the engine into the cluster of KUBECONFIG, such as' +
        ' "kind load docker-image", or to "true" where its nodes use the images of the engine',
    );
  }
  return {
    kubeconfig,
    load: async (images) => {
      const script = `${command} "$@"`;
      await runCommand('bash', ['-c', script, 'load', ...images], { timeoutMs: LOAD_TIMEOUT_MS });
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

async function openK3s(): Promise<TestCluster> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'vitrine-k3s-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const k3s = opened.use(await startK3s());
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, k3s.kubeconfig, { mode: 0o600 });
  const running = opened.move();
  return {
    kubeconfig,
    load: async (images) => {
      const archive = join(folder, 'images.tar');
      await runCommand('docker', ['save', '--output', archive, ...images], { timeoutMs: LOAD_TIMEOUT_MS });
      await k3s.importImages(archive);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
