import { setTimeout as wait } from 'node:timers/promises';
import { hasStatus, type ApiRequests } from './kubernetes-client.ts';
import { readObject } from './object-requests.ts';

/** Like client-go: others take over after `leaseMs` without a renewal, the leader gives up after `renewMs`, and all try every `retryMs`. The
 *  difference between the first two allows for clocks with different speeds and for ending work. */
const TIMES = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

/** The used fields of a Lease of coordination.k8s.io/v1. */
export interface Lease {
  readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly resourceVersion?: string };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

interface LeaderElectionOptions {
  readonly namespace: string;
  readonly name: string;
  /** Differs between any two processes, also of one pod. */
  readonly identity: string;
  /** A failed try, which is followed by the next one. */
  readonly onError: (error: unknown) => void;
  readonly times?: typeof TIMES;
}

/** The leadership of a process that has acquired the Lease. */
export interface Leadership extends AsyncDisposable {
  /** How often the Lease has changed hands: greater than that of every leader before, unless the Lease was deleted between them. */
  readonly transitions: number;
  /** Resolves when another process may lead, so that work must stop. Never rejects. */
  readonly lost: Promise<void>;
  /** Milliseconds in which it may still write, by this process's monotonic clock; 0 or less when another process may lead. They end
   *  `leaseMs - renewMs` before another process can take the Lease. */
  readonly remainingMs: () => number;
}

/** Takes part in the election of one leader. A leader counts as gone when its record has not changed for the lease duration by this process's
 *  monotonic clock, because clocks of nodes differ. */
export class LeaderElection {
  readonly #server: ApiRequests;
  readonly #options: LeaderElectionOptions;
  readonly #times: typeof TIMES;
  readonly #collection: string;
  readonly #path: string;
  /** The version of the record, and since when it has not changed. */
  #seen = { version: '', at: 0 };

  constructor(server: ApiRequests, options: LeaderElectionOptions) {
    this.#server = server;
    this.#options = options;
    this.#times = options.times ?? TIMES;
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${options.namespace}/leases`;
    this.#path = `${this.#collection}/${options.name}`;
  }

  /** Resolves when this process leads; undefined when `signal` ended the wait. Disposal releases the Lease. */
  async lead(signal: AbortSignal): Promise<Leadership | undefined> {
    while (!signal.aborted) {
      const startedAt = performance.now();
      const lease = await this.#attempt(() => this.#acquire());
      if (lease !== undefined) return this.#keep(lease, startedAt);
      await pause(this.#times.retryMs, signal);
    }
    return undefined;
  }

  async #acquire(): Promise<Lease | undefined> {
    const lease = await this.#read();
    if (lease === undefined) return await this.#write('POST', this.#collection, this.#record(undefined));
    const { holderIdentity, leaseDurationSeconds = this.#times.leaseMs / 1_000 } = lease.spec ?? {};
    const version = lease.metadata?.resourceVersion ?? '';
    if (this.#seen.version !== version) this.#seen = { version, at: performance.now() };
    const unchangedMs = performance.now() - this.#seen.at;
    // Its own Lease, from a try whose response was lost. Without this check, no process would lead until that Lease expires.
    const isFree = (holderIdentity ?? '') === '' || holderIdentity === this.#options.identity;
    if (!isFree && unchangedMs < leaseDurationSeconds * 1_000) return undefined;
    return await this.#write('PUT', this.#path, this.#record(lease));
  }

  #keep(acquired: Lease, acquiredAt: number): Leadership {
    const stopped = new AbortController();
    // Counted from the start of the request, because no other process counts from an earlier time.
    const renewal = { at: acquiredAt };
    const running = this.#renewUntilLost(acquired, renewal, stopped.signal);
    return {
      transitions: acquired.spec?.leaseTransitions ?? 0,
      lost: running.then(() => undefined),
      remainingMs: () => renewal.at + this.#times.renewMs - performance.now(),
      [Symbol.asyncDispose]: async () => {
        stopped.abort();
        const lease = await running;
        renewal.at = -Infinity;
        if (lease !== undefined) await this.#attempt(() => this.#release(lease));
      },
    };
  }

  /** Resolves with the Lease when stopped, or with undefined when leadership is lost. */
  async #renewUntilLost(acquired: Lease, renewal: { at: number }, stopped: AbortSignal): Promise<Lease | undefined> {
    let lease = acquired;
    for (;;) {
      await pause(this.#times.retryMs, stopped);
      if (stopped.aborted) return lease;
      const startedAt = performance.now();
      const renewed = await this.#attempt(() => this.#renew(lease));
      const isTooLate = performance.now() - renewal.at > this.#times.renewMs - this.#times.retryMs;
      if (renewed === 'lost' || (renewed === undefined && isTooLate)) {
        renewal.at = -Infinity;
        return undefined;
      }
      if (renewed !== undefined) [lease, renewal.at] = [renewed, startedAt];
    }
  }

  async #renew(lease: Lease): Promise<Lease | 'lost'> {
    try {
      const spec = { ...lease.spec, renewTime: now() };
      return await this.#write('PUT', this.#path, { ...lease, spec });
    } catch (error) {
      if (!hasStatus(error, 409) && !hasStatus(error, 404)) throw error;
      // Another writer changed it: a user who edited labels, or another leader.
      const current = await this.#read();
      if (current?.spec?.holderIdentity !== this.#options.identity) return 'lost';
      return await this.#write('PUT', this.#path, { ...current, spec: { ...current.spec, renewTime: now() } });
    }
  }

  async #release(lease: Lease): Promise<void> {
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now() };
    await this.#write('PUT', this.#path, { ...lease, spec });
  }

  #record(lease: Lease | undefined): object {
    const { namespace, name, identity } = this.#options;
    const time = now();
    const { holderIdentity, leaseTransitions = 0 } = lease?.spec ?? {};
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: lease?.metadata ?? { namespace, name },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(this.#times.leaseMs / 1_000),
        acquireTime: time,
        renewTime: time,
        leaseTransitions: lease === undefined || holderIdentity === identity ? leaseTransitions : leaseTransitions + 1,
      },
    };
  }

  #read(): Promise<Lease | undefined> {
    return readObject<Lease>(this.#server, this.#path, { timeoutMs: this.#times.retryMs });
  }

  #write(method: 'POST' | 'PUT', path: string, body: object): Promise<Lease> {
    return this.#server.request<Lease>({ method, path, body, timeoutMs: this.#times.retryMs });
  }

  /** A conflict means that another process was faster, which is not an error. */
  async #attempt<R>(work: () => Promise<R>): Promise<R | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!hasStatus(error, 409)) this.#options.onError(error);
      return undefined;
    }
  }
}

/** MicroTime. */
function now(): string {
  return new Date().toISOString().replace('Z', '000Z');
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
