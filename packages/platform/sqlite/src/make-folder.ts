import { codeOf } from '@vitrine/faults/fault';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Only the owner may read a folder that is created here, whatever the umask: its content is private. The mode of an existing folder
 *  is not changed. */
const PRIVATE_FOLDER = 0o700;

/** Makes a folder and those above it. Node's own recursive mkdir never returns below a folder that accepts no subfolders, such as /proc. */
export function makeFolder(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    try {
      makeOne(path);
    } catch (second) {
      if (codeOf(second) !== 'EEXIST') throw second;
    }
  }
}

function makeOne(path: string): void {
  mkdirSync(path, { mode: PRIVATE_FOLDER });
  try {
    chmodSync(path, PRIVATE_FOLDER);
  } catch {
    // A file system without modes.
  }
}
