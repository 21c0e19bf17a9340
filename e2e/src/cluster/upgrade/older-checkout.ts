import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { ROOT } from '../../running-process.ts';
import { runCommand } from '../run-command.ts';

const INSTALL_TIMEOUT_MS = 300_000;
/** The sources of a chart and its images. */
const SOURCES = ['charts', 'deploy/Dockerfile', 'deploy/copy-production.js', 'packages', 'services', 'operator', 'migrations'];
const NOT_IN_IMAGES = [':(exclude,glob)**/*.test.ts', ':(exclude,glob)**/testing/**', ':(exclude,glob)packages/testkit/**'];

const git = (...args: string[]) => runCommand('git', args).then((output) => output.trim());

/** Commits without it are of before 0.1.0, and their databases cannot be upgraded. */
const FIRST_RELEASE_MARK = 'migrations/SHA256SUMS';

/** A checkout of the commit before the last one that changed chart or images, with its production dependencies. */
export async function openOlderCheckout(): Promise<AsyncDisposable & { readonly path: string; readonly commit: string }> {
  const paths = ['--', ...SOURCES, ...NOT_IN_IMAGES];
  const last = await git('rev-list', '--max-count=1', 'HEAD', ...paths);
  const isEdited = (await git('status', '--porcelain', ...paths)) !== '';
  const parent = isEdited ? last : await git('rev-parse', '--verify', `${last}^`).catch(() => '');
  const hasMark = () =>
    git('cat-file', '-e', `${parent}:${FIRST_RELEASE_MARK}`).then(
      () => true,
      () => false,
    );
  const isUpgradable = parent !== '' && (await hasMark());
  // Otherwise, as in a shallow clone, the upgrade only replaces pods.
  const commit = isUpgradable ? parent : 'HEAD';
  const folder = await temporaryFolder('vitrine-older');
  try {
    await runCommand('bash', ['-euo', 'pipefail', '-c', 'git archive "$1" | tar -x -C "$2"', 'archive', commit, folder.path]);
    const [own, older] = await Promise.all([ROOT, folder.path].map((path) => readFile(join(path, 'package-lock.json'), 'utf8')));
    // Links, because the same versions are some hundred MB.
    if (own === older) await runCommand('cp', ['-al', join(ROOT, 'node_modules'), folder.path]);
    else {
      const args = ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
      await runCommand('npm', args, { cwd: folder.path, timeoutMs: INSTALL_TIMEOUT_MS });
    }
    return { path: folder.path, commit, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}
