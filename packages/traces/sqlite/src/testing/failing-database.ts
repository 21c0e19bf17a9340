import type { StatementFailures } from '@vitrine/traces/testing/contract-store';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

const METHODS = ['run', 'get', 'all', 'iterate'] as const;

/** A database with a statement that can fail once like on a bad disk. */
export class FailingDatabase extends DatabaseSync implements StatementFailures {
  hasFailed = false;
  #left = Number.POSITIVE_INFINITY;

  failAt(n: number): void {
    this.#left = n;
  }

  override exec(sql: string): void {
    this.#count();
    super.exec(sql);
  }

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    for (const method of METHODS) {
      const execute = statement[method].bind(statement) as (...values: SQLInputValue[]) => unknown;
      Object.defineProperty(statement, method, {
        value: (...values: SQLInputValue[]) => {
          this.#count();
          return execute(...values);
        },
      });
    }
    return statement;
  }

  #count(): void {
    this.#left -= 1;
    if (this.#left !== 0) return;
    this.hasFailed = true;
    throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
  }
}
