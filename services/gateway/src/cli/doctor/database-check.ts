import { isFault, messageOf } from '@vitrine/faults/fault';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { openPostgresTraceStore } from '@vitrine/trace-store-postgres/postgres-trace-store';
import type { Check } from './check.ts';

const MISSING_TABLE = '42P01';
const CONNECT_TIMEOUT_MS = 3_000;

/** Checks whether this user can read and write the traces of a database. Nothing is left behind. `place`: its address. */
export async function checkDatabase(options: PostgresPoolOptions, place: string): Promise<Check> {
  const found = (status: Check['status'], summary: string, detail: string): Check => ({
    name: 'storage',
    status,
    summary,
    details: [`database: ${place}`, detail],
  });
  await using store = openPostgresTraceStore({ ...options, maxConnections: 1, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  try {
    const [newest] = (await store.list({ limit: 1 })).items;
    const content = newest === undefined ? 'no traces' : `newest trace: ${newest.created_at}`;
    return await store.probe().then(
      () => found('pass', 'the traces can be read and written', content),
      (error: unknown) => found('fail', 'the traces cannot be written', messageOf(error)),
    );
  } catch (error) {
    const cause = isFault(error) ? error.cause : error;
    const isMissing = typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === MISSING_TABLE;
    if (isMissing) return found('fail', 'the database has not all tables: run npm run migrate', messageOf(cause));
    return found('fail', 'the traces cannot be read', messageOf(cause));
  }
}
