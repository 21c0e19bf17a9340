import { Fault, messageOf } from '@vitrine/faults/fault';
import { SqliteKeyReader } from '@vitrine/gateway-keys/sqlite/sqlite-key-reader';

/** Reads the key database without changing it: what only looks must not migrate the file of a gateway that may be of an earlier version.
 *  Faults: `key_store_unavailable`. */
export function readKeyDatabase<T>(path: string, read: (reader: SqliteKeyReader) => T): T {
  try {
    using reader = new SqliteKeyReader(path);
    return read(reader);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Fault('key_store_unavailable', { say: 'gateway key store is unavailable', log: { path, reason }, cause });
  }
}
