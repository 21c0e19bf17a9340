import { Fault } from '@vitrine/faults/fault';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Transaction } from '@vitrine/postgres/transaction';

/** Where a leader writes rows. */
export type Transactions = Pick<PostgresPool, 'transaction'>;

const TAKE = `UPDATE operator_leadership SET epoch = epoch + 1, holder = $1, taken_at = now() RETURNING epoch`;
/** Whoever takes the next epoch waits for the transactions that hold this row. */
const READ = 'SELECT epoch FROM operator_leadership FOR SHARE';

/** Takes the next epoch: from now on every transaction of a former leader fails. `holder`: the identity in the Lease, for people. */
export async function takeEpoch(pool: PostgresPool, holder: string): Promise<number> {
  const [row] = await pool.query<{ epoch: number }>(TAKE, [holder]);
  if (row === undefined) throw new Error('operator_leadership has no row: run npm run migrate');
  return row.epoch;
}

/** The database of a leader. A transaction commits only while nobody has taken a later epoch: a process that was paused and is no leader any
 *  more changes nothing. The Lease alone cannot promise that, and its counter begins again when it is deleted. Faults: `leadership_lost`. */
export class FencedDatabase implements Transactions {
  readonly #pool: PostgresPool;
  readonly #epoch: number;
  readonly #onLost: () => void;

  /** `onLost` is called when a transaction finds a later epoch. */
  constructor(pool: PostgresPool, epoch: number, onLost: () => void) {
    this.#pool = pool;
    this.#epoch = epoch;
    this.#onLost = onLost;
  }

  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#pool.transaction(async (transaction) => {
      const [row] = await transaction.query<{ epoch: number }>(READ);
      if (row?.epoch !== this.#epoch) {
        this.#onLost();
        throw new Fault('leadership_lost', {
          say: 'another process leads by now',
          log: { own: this.#epoch, current: row?.epoch },
        });
      }
      return await work(transaction);
    });
  }
}
