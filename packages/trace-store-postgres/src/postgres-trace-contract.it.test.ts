import { describe } from '@jest/globals';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import type { ContractStore } from '@vitrine/traces/testing/contract-store';
import { testTraceStore } from '@vitrine/traces/testing/trace-store-contract';
import { openPostgresTraceStore } from './postgres-trace-store.ts';
import { PostgresTraceWriter } from './postgres-trace-writer.ts';
import { CountedFailures } from './testing/counted-failures.ts';

/** Statements of the store that read; all others are those of retention. */
const READ = /^\s*(?:WITH|SELECT (?!make_|drop_))/;

async function open(): Promise<ContractStore> {
  const opened = new AsyncDisposableStack();
  const { dsn } = opened.use(await templateDatabase());
  const [writes, reads] = [new CountedFailures(), new CountedFailures()];
  const applicationName = 'test';
  const pool = opened.use(new PostgresPool({ dsn, applicationName, beforeStatement: () => writes.statement() }));
  const beforeStatement = (text: string) => (READ.test(text) ? reads : writes).statement();
  const store = opened.use(openPostgresTraceStore({ dsn, applicationName, beforeStatement }, 0));
  const writer = new PostgresTraceWriter(pool);
  return { writer, store, writes, reads, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describe('a Postgres store', () => testTraceStore(open));
