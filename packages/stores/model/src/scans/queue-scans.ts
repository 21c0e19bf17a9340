import { Fault } from '@vitrine/faults/fault';
import type { Transaction } from '@vitrine/postgres/transaction';

/** A job of another transaction may end between the statements of one attempt. */
const MAX_ATTEMPTS = 5;

/** Why a scan is queued: a customer's request, or the cadence. Each has a topic, and the topic of requests is drained first. */
export type ScanCause = 'requested' | 'routine';
export const SCAN_TOPICS: Readonly<Record<ScanCause, string>> = {
  requested: 'vitrine.scans.requested',
  routine: 'vitrine.scans.routine',
};

/** A message of these topics. Its key is the domain. Consumers detect redeliveries by the job's id. */
export interface ScanRequest {
  readonly scan_job_id: string;
  readonly domain: string;
}

/** `new`: queued now. `open`: the domain had an open job. `failed`: none was queued, because the last one failed recently. */
export interface QueuedScan {
  readonly scan_job_id: string;
  readonly state: 'new' | 'open' | 'failed';
}

interface ScansToQueue {
  /** Canonical, each once. */
  readonly domains: readonly string[];
  readonly cause: ScanCause;
  readonly createId: () => string;
  /** A domain whose last job was blocked or failed within this time is not queued again. */
  readonly unlessFailedWithinMs?: number;
}

/** The last job of each domain, if it was blocked or failed less than `$2` milliseconds ago. Stored times are whole milliseconds and may be
 *  rounded into the future. */
const failedOf = (domains: string) => `SELECT last.id, w.domain FROM unnest(${domains}) AS w (domain) CROSS JOIN LATERAL (
    SELECT id, status, finished_at FROM scan_jobs j WHERE j.domain = w.domain AND finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT 1
  ) AS last WHERE $2 > 0 AND last.status IN ('blocked', 'failed') AND last.finished_at > now() - make_interval(secs => $2::double precision / 1000)`;
/** Jobs in a fixed order, so that two batches cannot wait for each other. */
const INSERT = `WITH wanted AS (
    SELECT * FROM unnest($3::text[], $1::text[]) AS w (id, domain)
    WHERE NOT EXISTS (SELECT FROM domain_denylist d WHERE d.domain = w.domain)
      AND domain NOT IN (SELECT domain FROM (${failedOf('$1::text[]')}) AS f) ORDER BY domain
  ), queued AS (
    INSERT INTO scan_jobs (id, domain, cause, queued_at) SELECT id, domain, $4, now() FROM wanted
    ON CONFLICT (domain) WHERE status IN ('queued', 'running') DO NOTHING RETURNING id, domain
  ), messages AS (
    INSERT INTO outbox (topic, key, payload, created_at)
    SELECT $5, domain, json_build_object('scan_job_id', id, 'domain', domain)::text, now() FROM queued ORDER BY domain
  )
  SELECT id, domain FROM queued`;
const SELECT_FAILED = failedOf('$1::text[]');
const SELECT_OPEN = `SELECT id, domain FROM scan_jobs WHERE domain = ANY ($1) AND status IN ('queued', 'running')`;
const SELECT_DENIED = 'SELECT domain FROM domain_denylist WHERE domain = ANY ($1)';

/** Queues a scan of each domain that has no open job, with its message in the outbox, in the caller's transaction. Resolves with the job
 *  of each domain; denied domains have none. Faults: `scan_not_queued`. */
export async function queueScans(transaction: Transaction, scans: ScansToQueue): Promise<Map<string, QueuedScan>> {
  const { cause, createId, unlessFailedWithinMs = 0 } = scans;
  const jobs = new Map<string, QueuedScan>();
  let missing = scans.domains.toSorted();
  for (let attempt = 0; missing.length > 0; attempt += 1) {
    if (attempt === MAX_ATTEMPTS)
      throw new Fault('scan_not_queued', { say: 'scans could not be queued; try again', log: { domains: missing } });
    const add = async (rows: Promise<{ id: string; domain: string }[]>, state: QueuedScan['state']) => {
      for (const { id, domain } of await rows) jobs.set(domain, { scan_job_id: id, state });
      missing = missing.filter((domain) => !jobs.has(domain));
    };
    const values = [missing, unlessFailedWithinMs, missing.map(createId), cause, SCAN_TOPICS[cause]];
    await add(transaction.query(INSERT, values), 'new');
    await add(transaction.query(SELECT_OPEN, [missing]), 'open');
    await add(transaction.query(SELECT_FAILED, [missing, unlessFailedWithinMs]), 'failed');
    const denied = (await transaction.query<{ domain: string }>(SELECT_DENIED, [missing])).map(({ domain }) => domain);
    missing = missing.filter((domain) => !denied.includes(domain));
  }
  return jobs;
}
