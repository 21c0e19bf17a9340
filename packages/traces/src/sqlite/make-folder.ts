import { codeOf } from '@vitrine/faults/fault';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes a folder and those above it. Node's own recursive form never returns below a folder that takes no folders, such as /proc. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    try {
      mkdirSync(path);
    } catch (second) {
      if (codeOf(second) !== 'EEXIST') throw second;
    }
  }
}
