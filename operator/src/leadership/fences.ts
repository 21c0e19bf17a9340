import { Fault } from '@vitrine/faults/fault';
import type { Row } from '@vitrine/postgres/connection';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { type ApiRequest, type ApiRequests, REQUEST_TIMEOUT_MS } from '../runtime/kubernetes-client.ts';
import type { Leadership } from '../runtime/leader-election.ts';

/** Writes rows for a leader. */
export type Transactions = Pick<PostgresPool, 'transaction'>;

/** Includes the holder, because epochs start over in a recreated database. */
export interface Epoch {
  readonly epoch: number;
  readonly holder: string;
}

const TAKE = `UPDATE operator_leadership SET epoch = epoch + 1, holder = $1, taken_at = now() RETURNING epoch, holder`;
/** The next leader waits for transactions that have locked this row. */
const READ = 'SELECT epoch, holder FROM operator_leadership FOR SHARE';

/** Takes the next epoch: from now on every transaction of a former leader fails. `holder`: the identity in the Lease. */
export async function takeEpoch(pool: PostgresPool, holder: string): Promise<Epoch> {
  const [row] = await pool.query<Row & Epoch>(TAKE, [holder]);
  if (row === undefined) throw new Error('operator_leadership has no row: run npm run migrate');
  return row;
}

/** The database of a leader. A transaction commits only while the epoch of this leader is the newest in this database: a paused former leader
 *  changes nothing. The Lease alone cannot promise that, because its counter restarts when it is deleted. `onLost` is called when a transaction finds
 *  another epoch. Faults: `leadership_lost`. */
export function fenceDatabase(pool: PostgresPool, own: Epoch, onLost: () => void): Transactions {
  return {
    transaction: (work) =>
      pool.transaction(async (transaction) => {
        const [row] = await transaction.query<Row & Epoch>(READ);
        if (row?.epoch !== own.epoch || row.holder !== own.holder) {
          onLost();
          const say = 'another process leads by now, or the database was replaced';
          throw new Fault('leadership_lost', { say, log: { own, current: row } });
        }
        return await work(transaction);
      }),
  };
}

/** The API server of a leader. It writes only until the Lease ends by the leader's own clock, so that a paused former leader changes no object.
 *  A write in flight ends with the Lease. `fenceDatabase` promises more for rows. `onLost` is called when a write comes too late. Faults of writes:
 *  `leadership_lost`. */
export function fenceKubernetesClient(
  server: ApiRequests,
  leadership: Pick<Leadership, 'remainingMs'>,
  onLost: () => void,
): ApiRequests {
  return {
    request: async <T>(request: ApiRequest): Promise<T> => {
      const { method, path, timeoutMs = REQUEST_TIMEOUT_MS } = request;
      if (method === 'GET') return await server.request<T>(request);
      const remainingMs = Math.floor(leadership.remainingMs());
      if (remainingMs <= 0) {
        onLost();
        throw new Fault('leadership_lost', { say: 'the Lease has run out', log: { method, path } });
      }
      return await server.request<T>({ ...request, timeoutMs: Math.min(timeoutMs, remainingMs) });
    },
    watch: (request) => server.watch(request),
  };
}
