import { chmodSync, closeSync, fchmodSync, openSync, statSync } from 'node:fs';

/** Only the owner may read or write. */
const PRIVATE_FILE = 0o600;
const FOR_EVERYBODY = 0o007;
/** SQLite makes these files with the mode of the database; existing ones keep theirs. */
const BESIDE = ['-wal', '-shm', '-journal'];

/** Creates an empty file that only its owner may read, for any umask, unless the file exists. SQLite would create it with the mode that the umask
 *  leaves of 0644. A failure is ignored here and reported when the file is opened. */
export function makePrivateFile(path: string): void {
  let file: number;
  try {
    // An existing file is not opened, because closing it would release the locks that this process has on it.
    file = openSync(path, 'wx', PRIVATE_FILE);
  } catch {
    return;
  }
  try {
    fchmodSync(file, PRIVATE_FILE);
  } catch {
    // A file system without modes.
  } finally {
    closeSync(file);
  }
}

/** Restricts a file of ours to its owner if others than its group have any access. Other modes were set on purpose and are kept. */
export function keepPrivate(path: string): void {
  try {
    if ((statSync(path).mode & FOR_EVERYBODY) !== 0) chmodSync(path, PRIVATE_FILE);
  } catch {
    // The file is missing, owned by another user, or on a file system without modes.
  }
}

/** The same for a database and the files that SQLite makes beside it. */
export function keepDatabasePrivate(path: string): void {
  for (const suffix of ['', ...BESIDE]) keepPrivate(path + suffix);
}
