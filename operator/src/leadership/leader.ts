import { DatabaseProbe } from '@vitrine/postgres/database-probe';
import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ApiRequests } from '../runtime/kubernetes-client.ts';
import type { Controller } from '../runtime/controller.ts';
import { LeaderElection, type Leadership } from '../runtime/leader-election.ts';
import { fenceDatabase, takeEpoch, type Epoch, type Transactions, fenceKubernetesClient } from './fences.ts';

const AFTER_BUG = 'report it with this line: it is a bug; the process ends and is started again';
const AFTER_FAILED_ELECTION = 'look at err and at the rights to the Lease: docs/failure-modes.md#leadership_lost';

export interface LeaderOptions {
  readonly server: ApiRequests;
  readonly pool: PostgresPool;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Differs between any two processes. */
  readonly identity: string;
  readonly logger: Logger;
  /** Creates the controllers of a leader. They are started here, and write nothing after the loss of leadership. */
  readonly createControllers: (server: ApiRequests, database: Transactions) => readonly Controller[];
  readonly electionTimes?: ConstructorParameters<typeof LeaderElection>[1]['times'];
}

/** Waits until it leads, takes an epoch of the database, and runs the controllers until leadership is lost, which is final, because another
 *  process may have changed cached objects. */
export class Leader {
  /** Resolves when another process may lead. */
  readonly lost: Promise<void>;
  readonly #options: LeaderOptions;
  readonly #database: DatabaseProbe;
  readonly #stopping = new AbortController();
  readonly #onLost: () => void;
  #running: Promise<void> = Promise.resolve();
  #leadership: Leadership | undefined;
  #epoch: Epoch | undefined;
  #isLost = false;
  #controllers: readonly Controller[] = [];

  constructor(options: LeaderOptions) {
    this.#options = options;
    const { pool, logger } = options;
    this.#database = new DatabaseProbe(pool, { logger, probe: () => this.#probe() });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.lost = promise;
    this.#onLost = () => {
      this.#isLost = true;
      for (const controller of this.#controllers) controller.abandon();
      this.#stopping.abort();
      resolve();
    };
  }

  get controllers(): readonly Controller[] {
    return this.#controllers;
  }

  get isLeading(): boolean {
    return this.#leadership !== undefined && !this.#isLost;
  }

  /** Why a leader cannot work; undefined when it can. */
  get databaseReason(): string | undefined {
    return this.#database.reason;
  }

  start(): void {
    this.#running = this.#lead().catch((err: unknown) => this.#endByBug(err));
  }

  /** Finishes the passes in progress. */
  async stopControllers(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all([...this.#controllers, this.#database].map((one) => one[Symbol.asyncDispose]()));
  }

  /** Releases the Lease, so that a standby leads at once. */
  async release(): Promise<void> {
    await this.#leadership?.[Symbol.asyncDispose]();
  }

  async #lead(): Promise<void> {
    const { server, lease, identity, logger, electionTimes } = this.#options;
    const { signal } = this.#stopping;
    const onError = (err: unknown) => logger.warn({ err, next_step: AFTER_FAILED_ELECTION }, 'leader election failed');
    const election = new LeaderElection(server, { ...lease, identity, onError, ...(electionTimes && { times: electionTimes }) });
    this.#leadership = await election.lead(signal);
    if (this.#leadership === undefined) return;
    logger.info({ identity }, 'leadership acquired');
    void this.#leadership.lost.then(() => this.#stopping.signal.aborted || this.#onLost());
    const { ready } = this.#database.start();
    void ready.then(() => this.#startControllers()).catch((err: unknown) => this.#endByBug(err));
  }

  /** First takes an epoch. Later calls change no row, but fail if rows cannot be changed. */
  async #probe(): Promise<void> {
    const { pool, identity } = this.#options;
    if (this.#epoch === undefined) this.#epoch = await takeEpoch(pool, identity);
    else await pool.query('UPDATE gateway_keys SET revision = revision WHERE FALSE');
  }

  #startControllers(): void {
    const { server, pool, logger, createControllers } = this.#options;
    if (this.#leadership === undefined || this.#epoch === undefined || this.#stopping.signal.aborted) return;
    const fencedServer = fenceKubernetesClient(server, this.#leadership, this.#onLost);
    this.#controllers = createControllers(fencedServer, fenceDatabase(pool, this.#epoch, this.#onLost));
    for (const controller of this.#controllers) controller.start();
    const { epoch } = this.#epoch;
    logger.info({ epoch, controllers: this.#controllers.map(({ name }) => name) }, 'controllers started');
  }

  #endByBug(err: unknown): void {
    this.#options.logger.error({ err, next_step: AFTER_BUG }, 'starting controllers failed');
    this.#onLost();
  }
}
