import { Fault } from '@vitrine/faults/fault';
import type { Transaction } from '@vitrine/postgres/transaction';

/** A job of another transaction may end between the statements of one attempt. */
const MAX_ATTEMPTS = 5;

/** Why a scan is queued: a customer's request, or the cadence. Each has a topic, and that of requests is drained first. */
export type ScanCause = 'requested' | 'routine';
export const SCAN_TOPICS: Readonly<Record<ScanCause, string>> = {
  requested: 'vitrine.scans.requested',
  routine: 'vitrine.scans.routine',
};

/** A message of these topics; its key is the domain. Consumers recognise a repeated delivery by the job's id. */
export interface ScanRequest {
  readonly scan_job_id: string;
  readonly domain: string;
}

export interface QueuedScan {
  readonly scan_job_id: string;
  /** False when the domain had an open job: that one is billed to nobody again. */
  readonly is_new: boolean;
}

export interface ScansToQueue {
  /** Canonical, each once. */
  readonly domains: readonly string[];
  readonly cause: ScanCause;
  readonly at: number;
  readonly createId: () => string;
}

/** Jobs of one order, so that two batches cannot wait for each other. */
const INSERT = `WITH wanted AS (
    SELECT * FROM unnest($1::text[], $2::text[]) AS w (id, domain)
    WHERE NOT EXISTS (SELECT FROM domain_denylist d WHERE d.domain = w.domain) ORDER BY domain
  ), queued AS (
    INSERT INTO scan_jobs (id, domain, cause, queued_at) SELECT id, domain, $3, $4 FROM wanted
    ON CONFLICT (domain) WHERE status IN ('queued', 'running') DO NOTHING RETURNING id, domain
  ), messages AS (
    INSERT INTO outbox (topic, key, payload, created_at)
    SELECT $5, domain, json_build_object('scan_job_id', id, 'domain', domain)::text, $4 FROM queued ORDER BY domain
  )
  SELECT id, domain FROM queued`;
const SELECT_OPEN = `SELECT id, domain FROM scan_jobs WHERE domain = ANY ($1) AND status IN ('queued', 'running')`;
const SELECT_DENIED = 'SELECT domain FROM domain_denylist WHERE domain = ANY ($1)';

/** Queues a scan of each domain that has no open job, with its message in the outbox, in the caller's transaction. Resolves with the open job
 *  of each domain; domains of the denylist have none. Faults: `scan_not_queued`. */
export async function queueScans(transaction: Transaction, scans: ScansToQueue): Promise<Map<string, QueuedScan>> {
  const { cause, at, createId } = scans;
  const jobs = new Map<string, QueuedScan>();
  let missing = scans.domains.toSorted();
  for (let attempt = 0; missing.length > 0; attempt += 1) {
    if (attempt === MAX_ATTEMPTS)
      throw new Fault('scan_not_queued', { say: 'scans could not be queued; try again', log: { domains: missing } });
    const add = async (rows: Promise<{ id: string; domain: string }[]>, is_new: boolean) => {
      for (const { id, domain } of await rows) jobs.set(domain, { scan_job_id: id, is_new });
      missing = missing.filter((domain) => !jobs.has(domain));
    };
    await add(transaction.query(INSERT, [missing.map(createId), missing, cause, new Date(at), SCAN_TOPICS[cause]]), true);
    await add(transaction.query(SELECT_OPEN, [missing]), false);
    const denied = (await transaction.query<{ domain: string }>(SELECT_DENIED, [missing])).map(({ domain }) => domain);
    missing = missing.filter((domain) => !denied.includes(domain));
  }
  return jobs;
}
