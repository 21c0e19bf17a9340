import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** The size of a trace. */
const PROBE_BYTES = 32_768;
const PRIVATE_FILE = 0o600;

/** Writes a file in a folder and removes it. Throws the system's error if files cannot be written. Permissions alone do not show this, because
 *  root has all of them, and a full or special file system accepts no files regardless. */
export function probeFolder(folder: string): void {
  const path = join(folder, '.vitrine-check');
  rmSync(path, { force: true });
  const file = openSync(path, 'w', PRIVATE_FILE);
  try {
    // Removed before it is written, so that a process killed in between leaves nothing behind.
    rmSync(path);
    writeSync(file, Buffer.alloc(PROBE_BYTES));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
