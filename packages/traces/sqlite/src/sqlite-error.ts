import { messageOf } from '@vitrine/faults/fault';
import { writeErrorOf } from '@vitrine/traces/write-error';
import type { ClassifiedError, FailureClass } from '@vitrine/traces/record-writer';

/** SQLite's primary result codes from 1 on. Source: sqlite.org/rescode.html */
const CODES = (
  'ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG ' +
  'CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'
).split(' ');

const CLASSES: Readonly<Record<string, FailureClass>> = {
  SQLITE_INTERRUPT: 'timeout',
  SQLITE_IOERR: 'connection',
  SQLITE_CANTOPEN: 'connection',
  SQLITE_BUSY: 'contention',
  SQLITE_LOCKED: 'contention',
  SQLITE_CONSTRAINT: 'constraint',
};

/** The class of an SQLite error by its primary result code, and its reported fields. A full disk has no class of its own: `unknown`. An error that
 *  is not from SQLite is an internal one and also `unknown`. */
export function classifySqliteError(error: unknown): ClassifiedError {
  const errcode = typeof error === 'object' && error !== null && 'errcode' in error ? Number(error.errcode) : 0;
  const name = CODES[(errcode & 0xff) - 1];
  if (name === undefined) return { error_class: 'unknown', error: writeErrorOf(error) };
  const code = `SQLITE_${name}`;
  const { message } = writeErrorOf({ message: messageOf(error) });
  return { error_class: CLASSES[code] ?? 'unknown', error: { name: 'SqliteError', message, code, errcode } };
}
