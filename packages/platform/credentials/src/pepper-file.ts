import { codeOf, Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createPepperText, PEPPER_FORM, readPepper, type Pepper } from './pepper.ts';

const ASIDE_BYTES = 6;
const ASIDE = /^[0-9a-f]{12}$/;
const WRITTEN_WITHIN_MS = 60_000;

/** The peppers of a file, separated by line breaks or commas; the first is for new hashes. Creates a missing file with one new pepper, readable by
 *  its owner only. Processes that create it at the same time all get the same pepper. Faults: `pepper_unusable`. */
export function openPepperFile(path: string, random: (bytes: number) => Buffer, nowMs: number): Pepper[] {
  try {
    return peppersOf(readOrCreate(path, random, nowMs), path);
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/** The same, without creating a missing file: undefined then. Faults: `pepper_unusable`. */
export function readPepperFile(path: string): Pepper[] | undefined {
  try {
    return peppersOf(readFileSync(path, 'utf8'), path);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw unusable(path, cause);
  }
}

function unusable(path: string, cause: unknown): Fault {
  if (isFault(cause)) return cause;
  return new Fault('pepper_unusable', { say: `${path}: the pepper of gateway keys cannot be used: ${messageOf(cause)}`, cause });
}

function readOrCreate(path: string, random: (bytes: number) => Buffer, nowMs: number): string {
  removeLeftOver(path, nowMs);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  // Written under another name and then linked, so that no process reads a partial file, and one of two concurrent creators wins.
  const aside = `${path}.${random(ASIDE_BYTES).toString('hex')}`;
  try {
    // Keys survive a power failure, so their pepper must too.
    writeFileSync(aside, `${createPepperText(random, nowMs)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(aside, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  return readFileSync(path, 'utf8');
}

/** Removes files of processes that were killed while writing one. Younger files may belong to a running process. A folder that cannot be listed or
 *  written, such as a mounted Secret, is left unchanged, because its pepper can still be read. */
function removeLeftOver(path: string, nowMs: number): void {
  const [folder, name] = [dirname(path), basename(path)];
  try {
    for (const other of readdirSync(folder)) {
      if (!other.startsWith(`${name}.`) || !ASIDE.test(other.slice(name.length + 1))) continue;
      if (nowMs - statSync(join(folder, other)).mtimeMs > WRITTEN_WITHIN_MS) rmSync(join(folder, other));
    }
  } catch {
    // It cannot be removed, or another process has removed it.
  }
}

function peppersOf(text: string, path: string): Pepper[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (lines.length === 0 ? [''] : lines).flatMap((line, i) =>
    line.split(',').map((item) => {
      const pepper = readPepper(item.trim());
      if (pepper !== undefined) return pepper;
      throw new Fault('pepper_unusable', { say: `${path}: line ${i + 1} ${PEPPER_FORM}` });
    }),
  );
}
