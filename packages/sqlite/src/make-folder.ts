import { codeOf } from '@vitrine/faults/fault';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Nobody but the owner may look into a folder that is made here, whatever the umask: what is kept in it is private. A folder that is
 *  there already is somebody's, and stays as it is. */
const PRIVATE_FOLDER = 0o700;

/** Makes a folder and those above it. Node's own recursive form never returns below a folder that takes no folders, such as /proc. */
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
