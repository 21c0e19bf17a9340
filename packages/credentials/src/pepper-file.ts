import { codeOf, Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { createPepperText, PEPPER_FORM, readPepper, type Pepper } from './pepper.ts';

/** The peppers of a file, one per line or with commas between them as in a variable; the first is for new hashes. A missing file is created
 *  with one new pepper, readable by its owner only; processes that create it at the same time all get the same pepper. Faults:
 *  `pepper_unusable`. */
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
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  // Written to another name and then linked: no process reads half a file, and of two that create it at once one wins.
  const aside = `${path}.${random(6).toString('hex')}`;
  // Keys survive a power cut, so their pepper must too.
  writeFileSync(aside, `${createPepperText(random, nowMs)}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(aside, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    unlinkSync(aside);
  }
  return readFileSync(path, 'utf8');
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
