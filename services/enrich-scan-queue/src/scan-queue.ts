import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import { DatabaseReadiness, waitForDatabase } from '@vitrine/postgres/wait-for-database';
import type { Logger } from '@vitrine/telemetry/logger';
import type { ScanConfig } from './config.ts';
import type { ScannerState } from './health/scanner-state.ts';
import type { ScanFigures } from './observability/scan-telemetry.ts';
import type { ScanStorefront } from './scan/scan-ports.ts';

const APPLICATION = 'vitrine-enrich-scan-queue';
const CONNECTIONS = 6;

export interface ScanQueueOptions {
  readonly config: ScanConfig;
  readonly logger: Logger;
  readonly scanStorefront?: ScanStorefront;
}

/** From the queue to the database: waits for both, and scans. */
export class ScanQueue {
  readonly #options: ScanQueueOptions;
  readonly #pool: PostgresPool;
  readonly #database = new DatabaseReadiness();
  readonly #stopping = new AbortController();
  #starting: Promise<void> | undefined;

  /** Connects to nothing. */
  constructor(options: ScanQueueOptions) {
    this.#options = options;
    const { dsn } = options.config.storage;
    this.#pool = new PostgresPool({ dsn, applicationName: APPLICATION, maxConnections: CONNECTIONS });
  }

  get state(): ScannerState {
    return { databaseReason: this.#database.reason, consumers: [], canPublish: undefined, loopsAgeSec: new Map() };
  }

  get figures(): ScanFigures & { readonly lagRecords: number | undefined } {
    return { inFlight: 0, lagRecords: undefined, pools: { scan: this.#pool.figures() } };
  }

  /** Begins in the background: jobs are taken when the database has its tables. */
  start(): void {
    this.#starting = this.#begin();
  }

  /** Takes no more jobs and ends those in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#starting;
  }

  async closeDatabase(): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }

  async #begin(): Promise<void> {
    await waitForDatabase(this.#pool, {
      logger: this.#options.logger,
      signal: this.#stopping.signal,
      readiness: this.#database,
      probe: (pool) => pool.query('SELECT id FROM scan_jobs LIMIT 0'),
      isAwaited: () => true,
    });
  }
}
