import { chmodSync, closeSync, fchmodSync, openSync, statSync } from 'node:fs';

/** Only the owner may read or write. */
const PRIVATE_FILE = 0o600;
const FOR_EVERYBODY = 0o007;
/** SQLite makes these files with the mode of the database; existing ones keep theirs. */
const BESIDE = ['-wal', '-shm', '-journal'];

/** Makes an empty file that only its owner may read, whatever the umask, unless there is a file: SQLite would make its own with what
 *  the umask leaves of 0644. What cannot be made is left to whoever opens it, who says why. */
export function makePrivateFile(path: string): void {
  let file: number;
  try {
    // A file that is there is not opened: closing it would give back the locks that this process holds on it.
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

/** Closes a file of ours to all but its owner, when group or others may read or write it; other modes were given on purpose and stay. */
export function keepPrivate(path: string): void {
  try {
    if ((statSync(path).mode & FOR_EVERYBODY) !== 0) chmodSync(path, PRIVATE_FILE);
  } catch {
    // Not there; owned by another user; or a file system without modes.
  }
}

/** The same for a database and the files that SQLite makes beside it. */
export function keepDatabasePrivate(path: string): void {
  for (const suffix of ['', ...BESIDE]) keepPrivate(path + suffix);
}
