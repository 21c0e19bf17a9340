import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

const METHODS = ['run', 'get', 'all', 'iterate'] as const;

/** A database whose `failAt`th statement since `arm`, counted from 1, fails once as a disk would, before it does anything. */
export class FailingDatabase extends DatabaseSync {
  hasFailed = false;
  #left = Number.POSITIVE_INFINITY;

  arm(failAt: number): void {
    this.#left = failAt;
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
