import { codeOf, Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { createPepperText, PEPPER_FORM, readPepper, type Pepper } from './pepper.ts';

/** The peppers in a file, one a line, the first for new hashes. A file that is not there is made, readable by its owner only, with
 *  one new pepper; several processes that make it at once all get the same. Faults: `pepper_unusable`. */
export function openPepperFile(path: string, random: (bytes: number) => Buffer, nowMs: number): Pepper[] {
  try {
    return peppersOf(readOrMake(path, random, nowMs), path);
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/** The same of a file that is there; undefined where there is none, and none is made. Faults: `pepper_unusable`. */
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

function readOrMake(path: string, random: (bytes: number) => Buffer, nowMs: number): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  // Written aside and then linked: nobody reads half a file, and of two that make it at once only one does.
  const aside = `${path}.${random(6).toString('hex')}`;
  // Keys survive a power cut, so their pepper has to.
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
  return (lines.length === 0 ? [''] : lines).map((line, i) => {
    const pepper = readPepper(line.trim());
    if (pepper !== undefined) return pepper;
    throw new Fault('pepper_unusable', { say: `${path}: line ${i + 1} ${PEPPER_FORM}` });
  });
}
