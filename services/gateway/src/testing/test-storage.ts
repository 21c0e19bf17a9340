import { addressOf, addressText } from '@vitrine/postgres/dsn';
import { temporaryFolder } from '@vitrine/testkit/temporary-folder';
import { templateDatabase, type TestDatabase } from '@vitrine/testkit/template-database';
import type { StoreSummary } from '@vitrine/traces/trace-store';
import { join } from 'node:path';

/** The storage of traces and keys for gateways in a test. */
export interface TestStorage extends AsyncDisposable {
  readonly driver: StoreSummary['driver'];
  /** The folder for files of gateways. */
  readonly folder: string;
  /** The location as commands show it. */
  readonly place: string;
  /** Environment variables of gateways and commands. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A new folder. When jest runs the file over Postgres (the project `it on postgres` of jest.config.js), also a new database. */
export async function openTestStorage(): Promise<TestStorage> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(await temporaryFolder('gateway')).path;
  const path = join(folder, 'traces.db');
  const file = { driver: 'sqlite', place: path, variables: { SVC_STORAGE_PATH: path } } as const;
  const storage = 'TEST_STORAGE' in globalThis ? postgresStorage(opened.use(await templateDatabase()), file.variables) : file;
  const running = opened.move();
  return { ...storage, folder, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** As in a deployment: with the rights of a gateway. */
function postgresStorage({ dsn }: TestDatabase, file: TestStorage['variables']) {
  const url = new URL(dsn.reveal());
  url.searchParams.set('options', '-c role=vitrine_gateway');
  const variables = {
    ...file,
    SVC_STORAGE_DRIVER: 'postgres',
    SVC_STORAGE_DSN: url.href,
    SVC_AUTH_PEPPERS: `1:${'p'.repeat(32)}`,
  };
  return { driver: 'postgres', place: addressText(addressOf(dsn)), variables } as const;
}
