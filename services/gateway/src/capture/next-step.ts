import type { FailureClass } from '@vitrine/traces/record-writer';
import type { Drop } from './drop-report.ts';

const AT = 'docs/failure-modes.md';

/** By SQLite's code, where that says more than the class. */
const AFTER_CODE: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'free space on the disk of storage.path: traces are written again as soon as there is room',
  SQLITE_READONLY: 'give the gateway permission to write to the file of storage.path and its folder',
  SQLITE_CORRUPT: 'stop the gateway, keep the damaged file of storage.path aside, and put a backup or nothing in its place',
  SQLITE_NOTADB: 'stop the gateway, and put a backup or nothing in the place of the file of storage.path: it is no database',
  worker_failed:
    'read err: the next batch starts a new thread; when the gateway was stopping, the store had not taken them within 5 s. ' +
    'If it comes back, look at memory and the disk of storage.path',
};

const AFTER_CLASS: Readonly<Record<FailureClass, string>> = {
  timeout: 'report it with the version: nothing interrupts a write',
  connection: 'look at the disk or mount of storage.path, and at the log of the system',
  contention: 'end the program that holds a lock on the file of storage.path, such as a backup or an open sqlite3 shell',
  constraint: 'report it with the version and err: a row broke a rule of the tables, which is a bug',
  unknown: 'read err, and look at the free space and the disk of storage.path',
};

/** What an operator does about dropped traces, and where it is explained. Each place is a heading of docs/failure-modes.md. */
export function nextStepAfter(drop: Drop): string {
  if (drop.where === 'enqueue')
    return `look for writes that failed in this log, then at the disk of storage.path: it is slower than the traffic (${AT}#dropped-at-enqueue)`;
  return `${AFTER_CODE[drop.error.code] ?? AFTER_CLASS[drop.error_class]} (${AT}#${drop.error_class})`;
}
