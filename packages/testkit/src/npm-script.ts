import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url);

/** The command of a script `exec node ...` of a checkout's package.json (by default this one's), for any working folder: programs are started like
 *  in production, without npm. `root` ends with a slash. */
export function npmScript(name: string, root: URL = ROOT): readonly [string, ...string[]] {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { scripts: Record<string, string> };
  const [exec, node, ...args] = scripts[name]?.split(' ') ?? [];
  if (exec !== 'exec' || node !== 'node') throw new Error(`the script "${name}" does not begin with: exec node`);
  return [process.execPath, ...args.map((arg) => (arg.includes('/') ? fileURLToPath(new URL(arg, root)) : arg))];
}
