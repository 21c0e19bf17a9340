import { codeOf, Fault, isFault, messageOf } from '@vitrine/faults/fault';
import { lockFile } from '@vitrine/sqlite/file-lock';
import { makeFolder } from '@vitrine/sqlite/make-folder';
import { SqliteTraceReader } from '@vitrine/trace-store-sqlite/sqlite-trace-reader';
import { SqliteTraceWriter } from '@vitrine/trace-store-sqlite/sqlite-trace-writer';
import { writeResultOf } from '@vitrine/traces/write-result';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ImportTarget } from './import-traces.ts';
import { isOldTraceFile, oldTraceFileText } from './old-trace-file.ts';

/** The store at `path`, locked for this process as by a gateway. Faults: `storage_locked`, `storage_unusable`. */
export function openImportTarget(path: string): ImportTarget & Disposable {
  const attempt = <T>(open: () => T): T => {
    try {
      return open();
    } catch (cause) {
      if (codeOf(cause) === 'storage_locked')
        throw new Fault('storage_locked', {
          say: `${path} is in use by another process: stop the gateway, import, and start it again`,
          cause,
        });
      if (isFault(cause)) throw cause;
      const say = isOldTraceFile(path) ? oldTraceFileText(path) : `${path} cannot be opened: ${messageOf(cause)}`;
      throw new Fault('storage_unusable', { say, cause });
    }
  };
  using opened = new DisposableStack();
  attempt(() => makeFolder(dirname(path)));
  opened.use(attempt(() => lockFile(path)));
  const writer = opened.use(attempt(() => new SqliteTraceWriter(path)));
  const target = opened.move();
  return {
    has: (id) => writer.has(id),
    write: (records) => writeResultOf(writer.write(records), records.length),
    [Symbol.dispose]: () => target.dispose(),
  };
}

/** The same store for a dry run: nothing is created, locked or written, and a gateway may be using it. Faults: `storage_unusable`. */
export function openDryTarget(path: string): ImportTarget & Disposable {
  let reader: SqliteTraceReader | undefined;
  try {
    reader = existsSync(path) ? new SqliteTraceReader(path) : undefined;
  } catch (cause) {
    const say = isOldTraceFile(path) ? oldTraceFileText(path) : `${path} cannot be read: ${messageOf(cause)}`;
    throw new Fault('storage_unusable', { say, cause });
  }
  return {
    has: (id) => reader?.has(id) ?? false,
    write: (records) => ({ written: records.length, failures: [] }),
    [Symbol.dispose]: () => reader?.[Symbol.dispose](),
  };
}
