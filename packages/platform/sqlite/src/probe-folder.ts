import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** As much as a trace needs. */
const PROBE_BYTES = 32_768;
const PRIVATE_FILE = 0o600;

/** Writes a file to the disk of a folder and takes it back: throws the system's error where files cannot be written. Permissions alone do not
 *  say so: root has all of them, and a full or special file system accepts no files regardless. */
export function probeFolder(folder: string): void {
  const path = join(folder, '.vitrine-check');
  rmSync(path, { force: true });
  const file = openSync(path, 'w', PRIVATE_FILE);
  try {
    // Before it is written, so that nothing is left of a process that is killed meanwhile.
    rmSync(path);
    writeSync(file, Buffer.alloc(PROBE_BYTES));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
