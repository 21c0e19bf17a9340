import { counter, gauge, histogram } from '@vitrine/telemetry/metrics/instrument';
import { signalType } from '@vitrine/stores/resources/enumerations';
import { ATTEMPT_REASONS } from '@vitrine/stores/scans/finish-scan-job';

const SCAN_RESULTS = ['completed', 'blocked', 'failed', 'retried', 'put_off', 'handed_back', 'lost', 'undecided'] as const;
/** Results that have a reason. */
const WITH_REASON = ['blocked', 'failed', 'retried'] as const;
const SCAN_SECONDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 90];
const QUEUE_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400];
const CAUSES = ['requested', 'routine'] as const;
const byType = signalType.options.map((type) => ({ type }));
const byCause = CAUSES.map((cause) => ({ cause }));

/** Recorded at the end of each run of a job. */
export const RUN_INSTRUMENTS = {
  runs: counter(
    'scan.runs_total',
    '{scan}',
    'Runs of scan jobs, by result and reason.',
    ['cause', 'result', 'reason'],
    [
      ...CAUSES.flatMap((cause) => SCAN_RESULTS.map((result) => ({ cause, result, reason: '' }))).filter(
        ({ result }) => !WITH_REASON.some((one) => one === result),
      ),
      ...CAUSES.flatMap((cause) =>
        WITH_REASON.flatMap((result) => ATTEMPT_REASONS.map((reason) => ({ cause, result, reason: reason as string }))),
      ),
    ],
  ),
  duration: histogram('scan.duration_seconds', 's', 'Duration of a run, by result.', SCAN_SECONDS, ['result']),
  queueWait: histogram('scan.queue_wait_seconds', 's', 'Time from queueing a scan to its first run.', QUEUE_SECONDS, ['cause']),
  observations: counter(
    'scan.observations_total',
    '{observation}',
    'Observations committed, by scope.',
    ['scope'],
    [{ scope: 'full' }, { scope: 'partial' }, { scope: 'homepage_only' }],
  ),
  signals: counter('scan.signals_total', '{signal}', 'Signals confirmed by committed observations, by type.', ['type'], byType),
  held: counter(
    'svc.scan.signals_held_total',
    '{signal}',
    'Held signals, by type: too many stores lost the technology in a day.',
    ['type'],
    [{ type: 'technology_removed' }],
  ),
  withdrawn: counter(
    'svc.scan.signals_withdrawn_total',
    '{signal}',
    'Signals withdrawn because observations that arrived late disproved them, by type.',
    ['type'],
    byType,
  ),
};

/** Counted elsewhere and read when metrics are collected. */
export const QUEUE_INSTRUMENTS = {
  inFlight: gauge('scan.in_flight', '{scan}', 'Scans running in this process.'),
  slots: gauge('scan.slots', '{scan}', 'Maximum of concurrent scans in this process.'),
  waiting: gauge('scan.waiting', '{message}', 'Messages and due jobs waiting for a slot, by cause.', ['cause']),
  duplicates: counter(
    'scan.duplicates_total',
    '{message}',
    'Messages of jobs that run, have ended or wait for their next attempt.',
  ),
  consumed: counter('scan.consumer.records_total', '{record}', 'Messages taken and committed, by cause.', ['cause'], byCause),
  deadLetters: counter(
    'scan.consumer.dead_letters_total',
    '{record}',
    'Messages sent to the dead letter topic, by cause.',
    ['cause'],
    byCause,
  ),
  running: gauge('scan.consumer.running', '{consumer}', '1 if the consumer of a topic is in its group, else 0.', ['cause']),
  lag: gauge('scan.consumer.lag', '{record}', 'Messages of the assigned partitions that no process has taken, by cause.', [
    'cause',
  ]),
  openJobs: gauge('scan.jobs_open', '{job}', 'Open scan jobs of all processes.'),
  delayedJobs: gauge('scan.jobs_delayed', '{job}', 'Open scan jobs of all processes that wait for their next attempt.'),
  schedulerRuns: counter('scan.scheduler.runs_total', '{run}', 'Runs of the rescan scheduler, by result.', ['result']),
  scansQueued: counter('scan.scheduler.scans_total', '{scan}', 'Routine scans that this process queued.'),
  evidenceRemoved: counter(
    'scan.evidence_removed_total',
    '{observation}',
    'Observations whose evidence was removed after its retention.',
  ),
  replayed: counter(
    'scan.rules_replay.stores_total',
    '{store}',
    'Stores whose evidence this process replayed because rules have changed, by result.',
    ['result'],
  ),
  toReplay: gauge(
    'scan.rules_replay.remaining',
    '{store}',
    'Stores of all processes whose profiles come from other rules than the current ones.',
  ),
};

/** Politeness towards storefronts. */
export const POLITENESS_INSTRUMENTS = {
  waits: counter('scan.politeness.waits_total', '{request}', 'Requests that waited for their turn at a host or edge.'),
  waitSeconds: counter('scan.politeness.wait_seconds_total', 's', 'Time that requests waited for their turn.'),
  putOffs: counter('scan.politeness.put_offs_total', '{scan}', 'Scans postponed because a host or edge was busy with another.'),
  slowDowns: counter('scan.politeness.slow_downs_total', '{response}', 'Crawl-delays and Retry-Afters that were honoured.'),
};
