import { expect, test } from '@jest/globals';
import type { KafkaRecord } from '@vitrine/kafka/kafka-record';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { templateDatabase } from '@vitrine/testkit/template-database';
import { readWriterDrops } from '@vitrine/trace-store-postgres/writer-statistics';
import { CountedDeadLetters } from '../consume/counted-dead-letters.ts';
import { StatisticsRow } from './statistics-row.ts';

const letter = (errorClass: string): KafkaRecord => ({
  key: 'k',
  value: null,
  headers: { 'dead-letter-error-class': errorClass },
});

test('the row counts the records that the store rejected, with time and reason of the last; unreadable records are not counted', async () => {
  await using database = await templateDatabase();
  await using pool = new PostgresPool({ dsn: database.dsn, applicationName: 'test', maxConnections: 1 });
  const letters = new CountedDeadLetters({ publish: async (records) => records.map(() => 'published') });
  const startedAt = Date.now();
  {
    const counts = () => ({ written: 7, deadLetters: letters.counts, lastStoreDrop: letters.lastStoreDrop });
    await using _row = new StatisticsRow(pool, counts);
    await letters.publish([letter('constraint'), letter('malformed_record')]);
  }
  expect(await readWriterDrops(pool)).toEqual({
    counts: { 'write_batch_fallback constraint': 1 },
    last: { at: expect.any(Number), kind: 'write_batch_fallback constraint' },
  });
  expect((await readWriterDrops(pool)).last?.at).toBeGreaterThanOrEqual(startedAt);
});
