import type { AuditLog } from '@vitrine/gateway-keys/audit-log';
import type { KeyReader, KeyStore } from '@vitrine/gateway-keys/key-store';
import { EmbeddedKeyStore, type EmbeddedKeyStoreOptions } from '@vitrine/gateway-keys/sqlite/embedded-key-store';
import { openKeyReader } from '@vitrine/gateway-keys/sqlite/open-key-reader';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import { existsSync } from 'node:fs';
import { postgresOptions, storagePlace, type StorageSettings } from '../../storage/storage-settings.ts';
import { keyFiles } from './key-files.ts';

/** Reads and changes of keys and audit events; one more connection listens for changes of other gateways. */
const CONNECTIONS = 4;

/** `thread`: the worker thread of a store in a file. */
export type KeyStoreOptions = Pick<EmbeddedKeyStoreOptions, 'thread'>;

interface OpenKeyStore extends AsyncDisposable {
  readonly store: KeyStore & AuditLog;
  /** Where the keys are, for messages. */
  readonly place: string;
  /** Of its connection pool; none with a file. */
  readonly poolFigures: () => Readonly<Record<string, PoolFigures>>;
}

/** Opens the store of keys and audit events, where the traces are stored. This is the only file that names an implementation of it; nothing
 *  is opened before it is needed. */
export async function openKeyStore(storage: StorageSettings, { thread }: KeyStoreOptions = {}): Promise<OpenKeyStore> {
  const options = postgresOptions(storage, 'keys');
  if (options === undefined) {
    const { database: path } = keyFiles(storage.path);
    const store = new EmbeddedKeyStore({ path, thread });
    return { store, place: path, poolFigures: () => ({}), [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
  }
  const [{ PostgresPool }, { PostgresKeyStore }] = await Promise.all([
    import('@vitrine/postgres/postgres-pool'),
    import('@vitrine/gateway-keys/postgres/postgres-key-store'),
  ]);
  const pool = new PostgresPool({ ...options, maxConnections: CONNECTIONS });
  const store = new PostgresKeyStore(pool);
  const close = async () => {
    await store[Symbol.asyncDispose]();
    await pool[Symbol.asyncDispose]();
  };
  const poolFigures = () => ({ keys: pool.figures() });
  return { store, place: storagePlace(storage), poolFigures, [Symbol.asyncDispose]: close };
}

/** Reads stored keys and audit events without changing or migrating the store. Undefined if there is no file yet. Faults: `key_store_unavailable`. */
export async function readKeys<T>(storage: StorageSettings, read: (reader: KeyReader) => Promise<T>): Promise<T | undefined> {
  if (storage.driver === 'postgres') {
    await using opened = await openKeyStore(storage);
    return await read(opened.store);
  }
  const { database: path } = keyFiles(storage.path);
  if (!existsSync(path)) return undefined;
  using reader = openKeyReader(path);
  return await read(reader);
}
