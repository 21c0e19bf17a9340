import { counter, gauge } from '@vitrine/telemetry/metrics/instrument';

/** Of the records that are consumed; the metrics of writing are those of `WRITE_INSTRUMENTS`. */
export const CONSUMER_INSTRUMENTS = {
  duplicates: counter('svc.trace.duplicate_total', '{trace}', 'Traces that an earlier delivery had written.'),
  deadLetters: counter('svc.trace.dead_letter_total', '{record}', 'Records sent to the dead letter topic, by reason.', [
    'reason',
  ]),
  consumed: counter('svc.consumer.records_total', '{record}', 'Records consumed and committed.'),
  running: gauge('svc.consumer.running', '{consumer}', 'Whether the consumer is in its group and writes: 1 or 0.'),
  lag: gauge('svc.consumer.lag', '{record}', 'Records behind the end of the assigned partitions.'),
  partitions: gauge('svc.consumer.partitions', '{partition}', 'Partitions that are assigned to this process.'),
  rebalances: counter('svc.consumer.rebalances_total', '{rebalance}', 'Rebalances of the consumer group.'),
  pauses: counter('svc.consumer.pauses_total', '{pause}', 'Pauses because the database could not be written to.'),
  restarts: counter('svc.consumer.restarts_total', '{restart}', 'Sessions with the broker that ended in an error.'),
};

/** Of the database's tables. */
export const TABLE_INSTRUMENTS = {
  fallbacks: counter(
    'svc.trace.write_fallback_total',
    '{batch}',
    'Batches that COPY did not write, by what was tried next: insert (one statement), records (a transaction for each).',
    ['step'],
  ),
  partitionsAhead: gauge('svc.trace.partitions_ahead', '{day}', 'Days after today whose partitions are there.'),
};
