import { counter, gauge, histogram } from '@vitrine/telemetry/metrics/instrument';

// Names and labels of controller-runtime and client-go, so that dashboards made for them show this operator.

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export const RECORDED_INSTRUMENTS = {
  reconciled: counter('controller_runtime_reconcile_total', '{pass}', 'Passes of a controller, by result.', [
    'controller',
    'result',
  ]),
  reconcileErrors: counter('controller_runtime_reconcile_errors_total', '{pass}', 'Passes of a controller that failed.', [
    'controller',
  ]),
  reconcileTime: histogram('controller_runtime_reconcile_time_seconds', 's', 'Duration of a pass.', SECONDS, ['controller']),
  queueDuration: histogram('workqueue_queue_duration_seconds', 's', 'How long a key waited for a worker.', SECONDS, ['name']),
  workDuration: histogram('workqueue_work_duration_seconds', 's', 'How long a worker took for a key.', SECONDS, ['name']),
  requests: counter('rest_client_requests_total', '{request}', 'Requests to the API server, by status; 0 for none.', [
    'code',
    'method',
  ]),
};

const QUEUE = ['name'];
const WATCH = ['controller', 'kind'];

export const OBSERVED_INSTRUMENTS = {
  master: gauge('leader_election_master_status', '{leader}', 'Whether this process leads: 1 or 0.', ['name']),
  depth: gauge('workqueue_depth', '{key}', 'Keys that wait for a worker.', QUEUE),
  adds: counter('workqueue_adds_total', '{key}', 'Keys that were added.', QUEUE),
  retries: counter('workqueue_retries_total', '{key}', 'Keys that were added again after a failure.', QUEUE),
  unfinished: gauge('workqueue_unfinished_work_seconds', 's', 'How long the keys in progress have run, added up.', QUEUE),
  longestRunning: gauge('workqueue_longest_running_processor_seconds', 's', 'How long the longest of them has run.', QUEUE),
  activeWorkers: gauge('controller_runtime_active_workers', '{worker}', 'Workers in a pass.', ['controller']),
  maxConcurrent: gauge('controller_runtime_max_concurrent_reconciles', '{worker}', 'Workers of a controller.', ['controller']),
  objects: gauge('svc.operator.watched_objects', '{object}', 'Objects in the cache of a kind.', WATCH),
  restarts: counter('svc.operator.watch_restarts_total', '{watch}', 'Lists and watches that failed.', WATCH),
  relists: counter('svc.operator.lists_total', '{list}', 'Full lists of a kind.', WATCH),
  stale: gauge('svc.operator.watch_stale_seconds', 's', 'Since the API server last sent something of a kind.', WATCH),
};
