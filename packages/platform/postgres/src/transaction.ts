import type { Connection, Queryable, Row, StatementOptions } from './connection.ts';

type Isolation = 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';

export interface TransactionOptions {
  readonly isolation?: Isolation;
  readonly readOnly?: boolean;
}

/** A transaction while its work runs. Statements run one after the other. */
export class Transaction implements Queryable {
  readonly #connection: Connection;
  #isOver = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async query<R extends object = Row>(text: string, values: readonly unknown[] = [], options?: StatementOptions): Promise<R[]> {
    return (await this.#run<R>(text, values, options)).rows;
  }

  async execute(text: string, values: readonly unknown[] = [], options?: StatementOptions): Promise<number> {
    return (await this.#run(text, values, options)).rowCount ?? 0;
  }

  /** `COPY ... FROM STDIN` of data that is in memory; resolves with the number of rows. */
  copyFrom(text: string, data: Uint8Array): Promise<number> {
    return this.#open().copyFrom(text, data);
  }

  /** From now on statements are refused, because they would run outside the transaction. */
  end(): void {
    this.#isOver = true;
  }

  #run<R extends object>(text: string, values: readonly unknown[], options?: StatementOptions) {
    return this.#open().run<R>(text, values, options);
  }

  #open(): Connection {
    if (this.#isOver) throw new Error('invariant violated: a statement after the end of its transaction');
    return this.#connection;
  }
}

/** Runs `work` between BEGIN and COMMIT. When anything fails it is rolled back. When the rollback fails too, the connection is not reused. */
export async function runTransaction<T>(
  connection: Connection,
  timeouts: string,
  { isolation = 'READ COMMITTED', readOnly = false }: TransactionOptions,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const transaction = new Transaction(connection);
  let isUsable = false;
  try {
    await connection.run(`BEGIN ISOLATION LEVEL ${isolation}${readOnly ? ' READ ONLY' : ''};${timeouts}`);
    const result = await work(transaction);
    transaction.end();
    const { command } = await connection.run('COMMIT');
    // The server responds to COMMIT with ROLLBACK and no error if `work` continued after a failed statement.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back: one of its statements had failed');
    isUsable = true;
    return result;
  } catch (error) {
    transaction.end();
    isUsable = await rolledBack(connection);
    throw error;
  } finally {
    connection.release(isUsable);
  }
}

async function rolledBack(connection: Connection): Promise<boolean> {
  if (connection.isBroken) return false;
  try {
    await connection.run('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}
