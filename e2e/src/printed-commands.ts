import { join } from 'node:path';
import { ROOT, startProcess } from './running-process.ts';

/** A command may be slow on a busy machine. */
const PASTED_MS = 120_000;

/** Runs a command line as if it were pasted into a terminal, and returns its output. */
export async function paste(line: string): Promise<string> {
  await using shell = startProcess({ command: ['sh', '-c', line], cwd: join(ROOT, 'e2e') });
  const { code } = await shell.end(PASTED_MS);
  if (code !== 0) throw new Error(`${line}\nended with ${code}: ${shell.stderr}`);
  return shell.stdout;
}

/** The indented commands of the output, those with a backslash at the end of a line joined. */
export const commandsIn = (printed: string, name: 'curl' | 'export' | 'docker exec') =>
  [...printed.matchAll(new RegExp(`^ +(${name} (?:[^\n]*\\\\\n)*[^\n]*)$`, 'gm'))].map(([, command = '']) => command);
