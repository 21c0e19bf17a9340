import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { probeRecord } from '@vitrine/traces/probe-record';
import { addSums } from './add-sums.ts';
import { copyRows } from './postgres-trace-writer.ts';

const ROLLED_BACK = new Error('a probe is rolled back');

/** Writes a trace and its sums like any other and rolls them back. Rejects with the driver's error if traces cannot be written. Takes some
 *  milliseconds. */
export async function probeWrites(pool: PostgresPool): Promise<void> {
  const probe = pool.transaction(async (transaction) => {
    const [row] = await transaction.query<{ now: number }>('SELECT clock_timestamp() AS now');
    const records = [probeRecord(row?.now ?? 0)];
    await copyRows(transaction, records);
    await addSums(transaction, records);
    throw ROLLED_BACK;
  });
  await probe.catch((error: unknown) => {
    if (error !== ROLLED_BACK) throw error;
  });
}
