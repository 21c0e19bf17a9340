import type { FailureClass } from '@vitrine/traces/record-writer';
import type { StoreSummary } from '@vitrine/traces/trace-store';
import type { Drop } from './drop.ts';

const AT = 'docs/failure-modes.md';

type StoreDriver = StoreSummary['driver'];

/** The cause of a full queue. */
const SLOW: Readonly<Record<StoreDriver, string>> = {
  sqlite: 'the disk of storage.path',
  postgres: 'the database of storage.dsn',
};

/** By SQLite's code, where it is more specific than the class. */
const AFTER_CODE: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'free space on the disk of storage.path: traces are written again as soon as there is room',
  SQLITE_READONLY: 'give the gateway permission to write to the file of storage.path and its folder',
  SQLITE_CORRUPT: 'stop the gateway, keep the damaged file of storage.path aside, and put a backup or nothing in its place',
  SQLITE_NOTADB: 'stop the gateway, and put a backup or nothing in the place of the file of storage.path: it is not a database',
  file_moved: 'put the file of storage.path back, or restart the gateway, which opens the file that is there now, or creates one',
  spool_full: 'start the brokers of queue.brokers, or raise queue.spool.max_bytes: the spool is full',
  spool_failed: 'look at the disk of queue.spool.path, and start the brokers of queue.brokers',
  record_too_large: 'raise queue.max_record_bytes, and max.message.bytes of the topic',
  worker_failed:
    'read err: the next batch starts a new thread; when the gateway was stopping, the store had not taken them within 5 s. ' +
    'If it comes back, look at memory and the disk of storage.path',
};

type AfterClass = Readonly<Record<FailureClass, string>>;

const AFTER_CLASS: Readonly<Record<StoreDriver, AfterClass>> = {
  sqlite: {
    timeout: 'report it with the version: nothing interrupts a write',
    connection: 'look at the disk or mount of storage.path, and at the log of the system',
    contention: 'end the program that holds a lock on the file of storage.path, such as a backup or an open sqlite3 shell',
    constraint: 'report it with the version and err: a row broke a rule of the tables, which is a bug',
    unknown: 'read err, and look at the free space and the disk of storage.path',
  },
  postgres: {
    timeout: 'look at the load of the database of storage.dsn, and at its locks (pg_stat_activity)',
    connection: 'start the database of storage.dsn, or correct its address and credentials',
    contention: 'look for transactions that hold locks for seconds (pg_stat_activity)',
    constraint: 'report it with the version and err: a row broke a rule of the tables, which is a bug',
    unknown: 'read err, and look at the log and the disk of the database of storage.dsn',
  },
};

/** The operator's next step for dropped traces, with a link to its documentation. Each link is a heading of docs/failure-modes.md. */
export function nextStepAfter(drop: Drop, driver: StoreDriver): string {
  if (drop.where === 'enqueue')
    return `look for writes that failed in this log, then at ${SLOW[driver]}: it is slower than the traffic (${AT}#dropped-at-enqueue)`;
  return `${AFTER_CODE[drop.error.code] ?? AFTER_CLASS[driver][drop.error_class]} (${AT}#${drop.error_class})`;
}
