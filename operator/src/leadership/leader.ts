import type { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { DatabaseReadiness, waitForDatabase } from '@vitrine/postgres/wait-for-database';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ApiRequests } from '../runtime/api-server.ts';
import type { Controller } from '../runtime/controller.ts';
import { LeaderElection, type Leadership } from '../runtime/leader-election.ts';
import { FencedApiServer } from './fenced-api-server.ts';
import { FencedDatabase, takeEpoch, type Epoch, type Transactions } from './fenced-database.ts';

const AFTER_BUG = 'report it with this line: it is a bug; the process ends and is started again';
const AFTER_FAILED_ELECTION = 'look at err and at the rights to the Lease: docs/failure-modes.md#leadership_lost';

export interface LeaderOptions {
  readonly server: ApiRequests;
  readonly pool: PostgresPool;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Differs between any two processes. */
  readonly identity: string;
  readonly logger: Logger;
  /** Makes the controllers of a leader; they are started here, and write nothing when it leads no more. */
  readonly createControllers: (server: ApiRequests, database: Transactions) => readonly Controller[];
  readonly electionTimes?: ConstructorParameters<typeof LeaderElection>[1]['times'];
}

/** Waits until it leads, takes an epoch of the database, and runs the controllers until leadership is lost, which cannot be undone: another
 *  process may have changed what this one has cached. */
export class Leader {
  /** Resolves when another process may lead. */
  readonly lost: Promise<void>;
  readonly #options: LeaderOptions;
  readonly #database = new DatabaseReadiness();
  readonly #stopping = new AbortController();
  readonly #onLost: () => void;
  #running: Promise<void> = Promise.resolve();
  #leadership: Leadership | undefined;
  #controllers: readonly Controller[] = [];
  #isLost = false;

  constructor(options: LeaderOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.lost = promise;
    this.#onLost = () => {
      this.#isLost = true;
      for (const controller of this.#controllers) controller.abandon();
      this.#stopping.abort();
      resolve();
    };
  }

  get isLeading(): boolean {
    return this.#leadership !== undefined && !this.#isLost;
  }

  /** Of a leader that waits for it. */
  get databaseReason(): string | undefined {
    return this.#database.reason;
  }

  get controllers(): readonly Controller[] {
    return this.#controllers;
  }

  start(): void {
    this.#running = this.#run().catch((err: unknown) => {
      this.#options.logger.error({ err, next_step: AFTER_BUG }, 'controllers not started');
      this.#onLost();
    });
  }

  /** Finishes the passes in progress. */
  async stopControllers(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(this.#controllers.map((controller) => controller[Symbol.asyncDispose]()));
  }

  /** Gives the Lease back, so that a standby leads at once. */
  async release(): Promise<void> {
    await this.#leadership?.[Symbol.asyncDispose]();
  }

  async #run(): Promise<void> {
    const { server, pool, lease, identity, logger, createControllers, electionTimes } = this.#options;
    const { signal } = this.#stopping;
    const onError = (err: unknown) => logger.warn({ err, next_step: AFTER_FAILED_ELECTION }, 'leader election failed');
    const election = new LeaderElection(server, { ...lease, identity, onError, ...(electionTimes && { times: electionTimes }) });
    this.#leadership = await election.lead(signal);
    if (this.#leadership === undefined) return;
    logger.info({ identity }, 'leading');
    void this.#leadership.lost.then(() => this.#stopping.signal.aborted || this.#onLost());
    const epoch = await this.#takeEpoch(pool, identity);
    if (epoch === undefined) return;
    const fencedServer = new FencedApiServer(server, this.#leadership, this.#onLost);
    this.#controllers = createControllers(fencedServer, new FencedDatabase(pool, epoch, this.#onLost));
    for (const controller of this.#controllers) controller.start();
    logger.info({ epoch: epoch.epoch, controllers: this.#controllers.map(({ name }) => name) }, 'controllers started');
  }

  /** Waits for the database and its tables. */
  async #takeEpoch(pool: PostgresPool, identity: string): Promise<Epoch | undefined> {
    const { logger } = this.#options;
    let epoch: Epoch | undefined;
    const probe = async () => (epoch = await takeEpoch(pool, identity));
    const waiting = { logger, signal: this.#stopping.signal, readiness: this.#database, probe, isAwaited: () => true };
    return (await waitForDatabase(pool, waiting)) ? epoch : undefined;
  }
}
