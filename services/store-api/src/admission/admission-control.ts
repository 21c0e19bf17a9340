import { Fault } from '@vitrine/faults/fault';
import type { NewTokenHash, TokenHashes } from '@vitrine/credentials/token-hashes';
import type { Queryable } from '@vitrine/postgres/connection';
import {
  admitRequest,
  releaseRequest,
  type Admission,
  identifyKey,
  type KeyIdentity,
  type KeyLookup,
} from '@vitrine/stores/admission/admit-request';
import type { Scope } from '@vitrine/stores/resources/enumerations';
import type { ErrorCode } from '@vitrine/stores/resources/error-response';
import { ConcurrencyLimiter, overloaded } from './concurrency-limiter.ts';
import { ResponsePacer } from './response-pacer.ts';
import { MAX_REFUSED_TOKENS, MAX_SEEN_TOKENS, SeenTokens } from './seen-tokens.ts';

/** Connections of this process for looking up unknown tokens. Spec: S5.11. */
const UNSEEN_CONNECTIONS = 2;
/** As many as the allowed client connections. */
const MAX_UNSEEN_WAITING = 4_096;
const MAX_WORKSPACE_WAITING = 128;
/** Equals the wait for a connection of the pool. */
const MAX_WAIT_MS = 5_000;
/** Requests of a key beyond its plan that may reach the database, which rejects them with the exact reason. */
const KEY_EXCESS = 16;

export interface VerifyingPeppers {
  readonly hashes: TokenHashes;
  /** Whether every stored token can be verified, as of the last comparison of peppers. */
  readonly isComplete: boolean;
  /** The same after a new comparison with the records of other processes. */
  areComplete(): Promise<boolean>;
  /** Call with a verified token whose key is new to this process. `hashes`: all its hashes; `pepperVersion`: that of the stored one. */
  verified(keyId: string, hashes: readonly NewTokenHash[], pepperVersion: number): void;
}

interface AdmissionDatabase {
  readonly database: Queryable;
  /** Connections of the main pool, and of the pool for reading batches. */
  readonly connections: number;
  readonly batchConnections: number;
  readonly peppers: VerifyingPeppers;
  /** Milliseconds on a monotonic clock. */
  readonly clock: () => number;
}

/** One request to be admitted. */
interface AdmissionCall {
  readonly token: string;
  readonly scope: Scope | undefined;
  readonly leaseId: string;
  /** Whether the client no longer waits for the response. */
  readonly isOver: () => boolean;
}

/** The outcome of an admission, and the function that releases the request's share of the connections. */
interface Entered {
  readonly admission: Admission;
  readonly leave: () => void;
}

/** The use by the busiest workspace, if each has its own bound. */
interface BoundReading {
  readonly bound: string;
  readonly limit: number;
  readonly used: number;
  readonly waiting: number;
}

const TOO_MANY: ReadonlySet<ErrorCode> = new Set(['overloaded', 'rate_limited', 'concurrency_limited']);
const UNVERIFIABLE = 'The API key cannot be verified at the moment; try again in some seconds.';
const nothing = () => {};

/** Limits within this process before a request gets a connection: unknown tokens use two connections, and a workspace at most half of all. The
 *  database decides limits across processes. Spec: S5.1, S5.11, S5.12, S6.4. */
export class AdmissionControl {
  /** Delays refusals of keys. */
  readonly refusals: ResponsePacer;
  /** Delays refusals of excess requests. */
  readonly limits: ResponsePacer;
  /** Concurrent batch reads of each workspace. */
  readonly batches: ConcurrencyLimiter;
  readonly #options: AdmissionDatabase;
  readonly #tokens: SeenTokens;
  readonly #unseen: ConcurrencyLimiter;
  readonly #workspaces: ConcurrencyLimiter;
  /** Requests in flight by key. */
  readonly #ofKeys = new Map<string, number>();

  constructor(options: AdmissionDatabase) {
    const { connections, batchConnections, clock } = options;
    this.#options = options;
    this.refusals = new ResponsePacer(clock);
    this.limits = new ResponsePacer(clock);
    this.#tokens = new SeenTokens(clock);
    const bounds = { maxWaiting: MAX_WORKSPACE_WAITING, maxWaitMs: MAX_WAIT_MS };
    const unseen = { ...bounds, bound: 'unseen_tokens', limit: UNSEEN_CONNECTIONS, maxWaiting: MAX_UNSEEN_WAITING };
    this.#unseen = new ConcurrencyLimiter(unseen);
    const workspace = { ...bounds, bound: 'workspace', limit: shareOf(connections) };
    this.#workspaces = new ConcurrencyLimiter(workspace);
    this.batches = new ConcurrencyLimiter({ ...bounds, bound: 'batches', limit: shareOf(batchConnections) });
  }

  /** The pacer for responses with this code; undefined if they are not delayed. */
  pacerOf(code: ErrorCode): ResponsePacer | undefined {
    if (code === 'unauthorized') return this.refusals;
    return TOO_MANY.has(code) ? this.limits : undefined;
  }

  /** Current use of each bound, for metrics. */
  readings(): BoundReading[] {
    const { seen, refused } = this.#tokens.figures;
    const limiters = [this.#unseen, this.#workspaces, this.batches];
    return [
      ...limiters.map(({ bounds: { bound, limit }, mostRunning: used, waiting }) => ({ bound, limit, used, waiting })),
      { bound: 'refused_tokens', limit: MAX_REFUSED_TOKENS, used: refused, waiting: 0 },
      { bound: 'seen_tokens', limit: MAX_SEEN_TOKENS, used: seen, waiting: 0 },
    ];
  }

  /** Faults: `overloaded`, `key_unverifiable`, and those of the database. */
  async enter({ token, scope, leaseId, isOver }: AdmissionCall): Promise<Entered> {
    const { peppers } = this.#options;
    const hashes = peppers.hashes.all(token);
    const mac = Buffer.from(hashes[0]?.token_mac ?? []).toString('latin1');
    const lookup = await this.#identify(mac, hashes, isOver);
    if (lookup.outcome === 'unknown_key' && !peppers.isComplete) throw unverifiable();
    if (lookup.outcome !== 'valid') return { admission: lookup, leave: nothing };
    const leave = await this.#takeShare(lookup);
    try {
      if (isOver()) throw overloaded('workspace');
      const { database } = this.#options;
      const admission = await admitRequest(database, { token: hashes, scope, lease_id: leaseId });
      this.#learn(mac, admission);
      if (admission.outcome === 'unknown_key') await this.#ensureVerifiable();
      return { admission, leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Call when the process stops. */
  stopPacing(): void {
    this.refusals.open();
    this.limits.open();
  }

  /** Frees the slot that an admitted request holds in the database. */
  release(keyId: string, leaseId: string): Promise<void> {
    return releaseRequest(this.#options.database, keyId, leaseId);
  }

  async #identify(mac: string, hashes: readonly NewTokenHash[], isOver: () => boolean): Promise<KeyLookup> {
    const seen = this.#tokens.identityOf(mac);
    if (seen !== undefined) return { outcome: 'valid', ...seen };
    if (this.#tokens.isRefused(mac)) return { outcome: 'unknown_key' };
    const lookup = await this.#unseen.run('', async () => {
      // A client that has left must not cost a statement.
      if (isOver()) throw overloaded('unseen_tokens');
      const found = await identifyKey(this.#options.database, hashes);
      if (found.outcome === 'unknown_key') {
        this.#tokens.refuse(mac);
        await this.#ensureVerifiable();
      }
      return found;
    });
    if (lookup.outcome === 'valid') {
      this.#tokens.remember(mac, lookup);
      this.#options.peppers.verified(lookup.key_id, hashes, lookup.pepper_version);
    }
    return lookup;
  }

  /** Another process may have hashed an unknown token with a pepper that is missing here. */
  async #ensureVerifiable(): Promise<void> {
    if (!(await this.#options.peppers.areComplete())) throw unverifiable();
  }

  /** A slot among the requests of the key and its workspace. */
  async #takeShare({ key_id, workspace_id, concurrency }: KeyIdentity): Promise<() => void> {
    const inFlight = this.#ofKeys.get(key_id) ?? 0;
    if (inFlight >= concurrency + KEY_EXCESS) throw overloaded('key');
    this.#ofKeys.set(key_id, inFlight + 1);
    const leaveKey = () => {
      const left = (this.#ofKeys.get(key_id) ?? 1) - 1;
      if (left === 0) this.#ofKeys.delete(key_id);
      else this.#ofKeys.set(key_id, left);
    };
    try {
      const leaveWorkspace = await this.#workspaces.acquire(workspace_id);
      return () => {
        leaveKey();
        leaveWorkspace();
      };
    } catch (error) {
      leaveKey();
      throw error;
    }
  }

  /** The key as in its current row. */
  #learn(mac: string, admission: Admission): void {
    if ('key' in admission) {
      const { key, workspace, plan } = admission;
      const { concurrency } = plan.limits;
      this.#tokens.remember(mac, { key_id: key.id, workspace_id: workspace.id, concurrency });
    } else if (admission.outcome === 'unknown_key') this.#tokens.refuse(mac);
    else this.#tokens.forget(mac);
  }
}

function unverifiable(): Fault {
  return new Fault('key_unverifiable', { say: UNVERIFIABLE });
}

/** The share of a pool's connections that one workspace may use at a time. */
function shareOf(connections: number): number {
  return Math.max(1, Math.floor(connections / 2));
}
