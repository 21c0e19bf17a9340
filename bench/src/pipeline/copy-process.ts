// The baseline of trace-writers: COPYs ready-made rows into the same tables, a transaction for two COPYs, and nothing else. Arguments: DSN and
// number of rows. Ends with its parent.
import { Secret } from '@vitrine/config/secret';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { TRACE_BODIES, TRACES } from '@vitrine/trace-store-postgres/trace-columns';
import { SampleRecords } from './sample-records.ts';

export interface CopyResult {
  readonly rows: number;
  readonly seconds: number;
}

/** As `BATCH_RECORDS` of the trace-writer. */
const BATCH = 500;

const [dsn = '', rows = ''] = process.argv.slice(2);
const pool = new PostgresPool({ dsn: new Secret(dsn), applicationName: 'vitrine-bench copy', maxConnections: 1 });
const samples = new SampleRecords();
const batches = Array.from({ length: Math.ceil(Number(rows) / BATCH) }, () => {
  const records = samples.take(BATCH);
  return { traces: TRACES.copyText(records), bodies: TRACE_BODIES.copyText(records) };
});

process.on('message', (seconds: number) => void copy(seconds).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit(0));
process.send?.({ port: 0 });

/** For so many seconds, or until there are no more rows. */
async function copy(seconds: number): Promise<CopyResult> {
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1_000;
  let done = 0;
  while (done < batches.length && elapsed() < seconds) {
    const batch = batches[done++];
    await pool.transaction(async (transaction) => {
      await transaction.copyFrom(TRACES.copy, batch?.traces ?? new Uint8Array());
      await transaction.copyFrom(TRACE_BODIES.copy, batch?.bodies ?? new Uint8Array());
    });
  }
  return { rows: done * BATCH, seconds: elapsed() };
}
