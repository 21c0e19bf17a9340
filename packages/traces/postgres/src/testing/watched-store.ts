import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import type { TraceRecord } from '@vitrine/traces/trace-record';
import { openPostgresTraceStore, type PostgresTraceStore } from '../postgres-trace-store.ts';
import { PostgresTraceWriter } from '../postgres-trace-writer.ts';

/** A store whose statements are recorded. */
export interface WatchedStore extends AsyncDisposable {
  readonly store: PostgresTraceStore;
  /** Texts, oldest first. Readers may empty the list. */
  readonly statements: string[];
}

/** Writes records into a new database and opens a store over it. */
export async function openWatchedStore(records: readonly TraceRecord[]): Promise<WatchedStore> {
  await using opened = new AsyncDisposableStack();
  const { dsn } = opened.use(await templateDatabase());
  const pool = opened.use(new PostgresPool({ dsn, applicationName: 'test' }));
  const written = await new PostgresTraceWriter(pool).write(records);
  if (written.some((result) => result !== 'written')) throw new Error('a record was not written');
  const statements: string[] = [];
  const beforeStatement = (text: string) => void statements.push(text);
  const store = opened.use(openPostgresTraceStore({ dsn, applicationName: 'test', beforeStatement }));
  const running = opened.move();
  return { store, statements, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
