import { counter, gauge, type Reading } from '@vitrine/telemetry/metrics/instrument';

/** Why a message was not published; `refused`: the topic will never accept it, or the consumer rejected it. */
const OUTBOX_FAILURES = ['unavailable', 'refused', 'database'] as const;
type OutboxFailure = (typeof OUTBOX_FAILURES)[number];

export interface OutboxBacklog {
  /** Unpublished messages of every topic; at most `MAX_BACKLOG_ROWS` are counted. */
  readonly rows: number;
  readonly oldestAgeMs: number;
}

export interface OutboxFigures {
  readonly published: ReadonlyMap<string, number>;
  readonly failures: Readonly<Record<OutboxFailure, number>>;
  /** Messages that are being published. */
  readonly inFlight: number;
  /** Undefined while unknown. */
  readonly backlog: OutboxBacklog | undefined;
  readonly backlogReadFailures: number;
}

/** Metrics of a relay, for every service that runs one. */
export const OUTBOX_INSTRUMENTS = {
  published: counter('svc.outbox.published_total', '{message}', 'Outbox messages that were published, by topic.', ['topic']),
  failures: counter(
    'svc.outbox.failures_total',
    '{failure}',
    'Attempts to publish that failed, by reason: unavailable (tried again), refused, database.',
    ['reason'],
  ),
  inFlight: gauge('svc.outbox.in_flight', '{message}', 'Outbox messages that are being published.'),
  backlog: gauge('svc.outbox.backlog', '{message}', 'Outbox messages that are not published.'),
  oldestAge: gauge('svc.outbox.oldest_age_seconds', 's', 'Age of the oldest outbox message that is not published.'),
  backlogReadFailures: counter('svc.outbox.backlog_read_failures_total', '{failure}', 'Failed attempts to read the backlog.'),
};

/** The values of `OUTBOX_INSTRUMENTS`. An unknown backlog has no series. */
export function outboxReadings(figures: OutboxFigures): Readonly<Record<keyof typeof OUTBOX_INSTRUMENTS, Reading>> {
  const { published, failures, inFlight, backlog, backlogReadFailures } = figures;
  return {
    published: [...published].map(([topic, count]) => [{ topic }, count] as const),
    failures: OUTBOX_FAILURES.map((reason) => [{ reason }, failures[reason]] as const),
    inFlight,
    backlog: backlog?.rows ?? [],
    oldestAge: backlog === undefined ? [] : backlog.oldestAgeMs / 1_000,
    backlogReadFailures,
  };
}
