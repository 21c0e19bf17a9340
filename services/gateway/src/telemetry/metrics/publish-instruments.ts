import { counter, gauge, histogram } from '@vitrine/telemetry/metrics/instrument';

const PUBLISH_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Why traces are lost on their way to the broker: codes of failed results, and all others. */
export const PUBLISH_DROP_CAUSES = ['spool_full', 'spool_failed', 'record_too_large', 'unknown'] as const;

/** Of publishing to a broker; the metrics of writing are the trace-writer's. Spec: G12.10. */
export const PUBLISH_INSTRUMENTS = {
  dropped: counter(
    'svc.trace.publish_dropped_total',
    '{trace}',
    'Traces that neither a broker nor the spool accepted, by cause.',
    ['cause'],
    PUBLISH_DROP_CAUSES.map((cause) => ({ cause })),
  ),
  duration: histogram(
    'svc.trace.publish_duration_seconds',
    's',
    'Time to publish or spool one batch of traces.',
    PUBLISH_SECONDS,
  ),
};

/** Those that the publisher keeps. */
export const PUBLISHER_INSTRUMENTS = {
  published: counter('svc.trace.published_total', '{trace}', 'Traces that a broker or the spool accepted.'),
  connected: gauge(
    'svc.trace.publisher_connected',
    '{connection}',
    'Whether a broker was reached and no send has failed since: 1 or 0.',
  ),
  withoutBodies: counter(
    'svc.trace.publish_bodies_dropped_total',
    '{trace}',
    'Traces that lost their bodies: too large for the topic.',
  ),
  spoolRecords: gauge('svc.trace.spool_records', '{trace}', 'Traces that wait on the disk for a broker.'),
  spoolBytes: gauge('svc.trace.spool_size', 'By', 'Bytes of the spool on the disk.'),
  spoolLimit: gauge('svc.trace.spool_limit', 'By', 'Bytes that the spool may have: queue.spool.max_bytes.'),
  drained: counter('svc.trace.spool_drained_total', '{trace}', 'Traces of the spool that a broker accepted.'),
  lost: counter('svc.trace.spool_lost_total', '{trace}', 'Traces of the spool that were lost, by cause.', ['cause']),
};
