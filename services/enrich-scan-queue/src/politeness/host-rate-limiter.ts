import ipaddr from 'ipaddr.js';
import type { Queryable } from '@vitrine/postgres/connection';
import type { ScanCause } from '@vitrine/stores/scans/queue-scans';
import { setTimeout as wait } from 'node:timers/promises';
import type { RequestGate, RequestTarget } from '../scan/scan-ports.ts';

/** Spec: S8.4: one request a second. */
const INTERVAL_MS = 1_000;
/** Longer than a scan may take. After this time the connection of a dead process is free again. */
const HOLD_MS = 70_000;
/** A scan without a connection waits at most this long. Otherwise its job is postponed. */
const MAX_WAIT_MS = 5_000;
/** Approximate duration of a scan at an edge. A postponed routine scan returns this much later than the one before it. */
const BACKLOG_MS = 6_000;
/** A requested scan does not queue behind routine ones. */
const REQUESTED_DELAY_MS = { least: 2_000, most: 6_000 };
const MAX_INTERVAL_MS = 60_000;
const MAX_PAUSE_MS = 21_600_000;
const INTERVAL_LASTS_MS = 3_600_000;

const TAKE_TURN = 'SELECT * FROM take_request_turn($1, $2, $3, $4, $5, $6)';
const SLOW_DOWN = `INSERT INTO request_turns AS r (target, next_at, interval_ms, interval_until)
  VALUES ($1, now(), $2, now() + make_interval(secs => $3::double precision / 1000))
  ON CONFLICT (target) DO UPDATE SET interval_ms = greatest(excluded.interval_ms, CASE WHEN r.interval_until > now() THEN r.interval_ms ELSE 0 END),
    interval_until = excluded.interval_until,
    next_at = greatest(r.next_at, now() + make_interval(secs => excluded.interval_ms / 1000.0))`;
const PAUSE = `INSERT INTO request_turns AS r (target, next_at)
  SELECT t, now() + make_interval(secs => $2::double precision / 1000) FROM unnest($1::text[]) AS t ORDER BY t
  ON CONFLICT (target) DO UPDATE SET next_at = greatest(r.next_at, excluded.next_at)`;
const RELEASE = `UPDATE request_turns SET holder = NULL, held_until = '-infinity' WHERE holder = $1`;
const REMOVE_UNUSED = `DELETE FROM request_turns WHERE target IN (
  SELECT target FROM request_turns WHERE next_at < now() - interval '1 hour' AND held_until < now() AND interval_until < now()
    AND backlog_until < now() LIMIT 1000 FOR UPDATE SKIP LOCKED)`;

export interface PolitenessCounters {
  /** Requests that had to wait for their turn, and their total wait. */
  waits: number;
  waitedMs: number;
  /** Scans postponed because another has the connection or the turn is too far in the future. */
  putOffs: number;
  /** Number of Crawl-delay and Retry-After values applied. */
  slowDowns: number;
}

export interface HostRateLimiterOptions {
  readonly intervalMs?: number;
  readonly maxWaitMs?: number;
  readonly backlogMs?: number;
}

/** One connection and one request a second for each host and for each edge, across all replicas, which reserve turns in shared rows. One round
 *  trip per request. Spec: S8.4. */
export class HostRateLimiter {
  readonly counters: PolitenessCounters = { waits: 0, waitedMs: 0, putOffs: 0, slowDowns: 0 };
  readonly #database: Queryable;
  readonly #options: Required<HostRateLimiterOptions>;

  constructor(database: Queryable, options: HostRateLimiterOptions = {}) {
    this.#database = database;
    this.#options = { intervalMs: INTERVAL_MS, maxWaitMs: MAX_WAIT_MS, backlogMs: BACKLOG_MS, ...options };
  }

  /** The gate of one scan. `scan`: a unique id of the run. */
  gateOf(scan: string, cause: ScanCause): RequestGate {
    return {
      waitTurn: (target, signal) => this.#waitTurn(scan, cause, target, signal),
      slowDown: (target, why, ms) => this.#slowDown(target, why, ms),
    };
  }

  /** Releases the connections of a scan. */
  async release(scan: string): Promise<void> {
    await this.#database.execute(RELEASE, [scan]);
  }

  /** Removes at most 1,000 targets that were unused for an hour. Resolves with their number. */
  removeUnused(): Promise<number> {
    return this.#database.execute(REMOVE_UNUSED);
  }

  async #waitTurn(scan: string, cause: ScanCause, target: RequestTarget, signal: AbortSignal) {
    signal.throwIfAborted();
    const { intervalMs, maxWaitMs, backlogMs } = this.#options;
    const values = [targetsOf(target), scan, intervalMs, HOLD_MS, maxWaitMs, cause === 'routine' ? backlogMs : 0];
    const [turn] = await this.#database.query<{ wait_ms: number; put_off: boolean }>(TAKE_TURN, values, { name: 'request-turn' });
    if (turn === undefined) throw new Error('invariant violated: take_request_turn returns one row');
    if (turn.put_off) {
      this.counters.putOffs += 1;
      const { least, most } = REQUESTED_DELAY_MS;
      const requestedMs = Math.max(turn.wait_ms, least + Math.random() * (most - least));
      return { delayedMs: Math.ceil(cause === 'routine' ? turn.wait_ms : requestedMs) };
    }
    if (turn.wait_ms > 0) {
      this.counters.waits += 1;
      this.counters.waitedMs += turn.wait_ms;
      await wait(turn.wait_ms, undefined, { signal });
    }
    return undefined;
  }

  async #slowDown(target: RequestTarget, why: 'crawl_delay' | 'retry_after', ms: number): Promise<void> {
    this.counters.slowDowns += 1;
    if (why === 'crawl_delay')
      await this.#database.execute(SLOW_DOWN, [hostOf(target), Math.min(Math.ceil(ms), MAX_INTERVAL_MS), INTERVAL_LASTS_MS]);
    else await this.#database.execute(PAUSE, [targetsOf(target), Math.min(ms, MAX_PAUSE_MS)]);
  }
}

/** For measurements against your own storefronts. */
export const NO_LIMITS: RequestGate = { waitTurn: async () => undefined, slowDown: async () => {} };

function targetsOf(target: RequestTarget): string[] {
  return [hostOf(target), edgeOf(target.address)];
}

function hostOf({ host }: RequestTarget): string {
  return `host:${host.toLowerCase()}`;
}

/** Networks that belong to a platform, by their registration (23.227.32.0/19 is Shopify, Inc., AS62679; 185.230.60.0/22 is Wix, AS58182) or around
 *  the addresses that a platform tells shops to point their DNS records to: requests to any address in them reach the same servers. One that is too
 *  wide costs time, one that is missing costs politeness. Hosts elsewhere share an edge where they share an address. */
const PLATFORM_NETWORKS: Readonly<Record<string, readonly string[]>> = {
  // help.shopify.com/manual/domains/understanding-domains: 23.227.38.65 and 2620:127:f00f:5::.
  shopify: ['23.227.32.0/19', '2620:127:f00f::/48'],
  // namecheap.com/support/knowledgebase/article.aspx/9608: 198.185.159.144, 198.185.159.145, 198.49.23.144 and 198.49.23.145.
  squarespace: ['198.185.159.0/24', '198.49.23.0/24'],
  wix: ['185.230.60.0/22'],
};

const EDGES = Object.entries(PLATFORM_NETWORKS).flatMap(([edge, networks]) =>
  networks.map((network) => ({ edge, range: ipaddr.parseCIDR(network) })),
);

/** What many hosts share behind an IP address: a platform's edge, or the address itself; of IPv6 the /64, which is one machine's or one customer's. */
export function edgeOf(address: string): string {
  const parsed = ipaddr.parse(address);
  const known = EDGES.find(({ range }) => range[0].kind() === parsed.kind() && parsed.match(range));
  if (known !== undefined) return `edge:${known.edge}`;
  if (!('parts' in parsed)) return `ip:${address}`;
  const groups = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `ip:${groups.join(':')}::/64`;
}
