import { codeOf, Fault, messageOf } from '@vitrine/faults/fault';
import { RetentionClock, type RetentionRun } from '@vitrine/lifecycle/retention-clock';
import { advanceRetention } from '@vitrine/postgres/advance-retention';
import type { PoolFigures } from '@vitrine/postgres/pool-figures';
import type { PostgresPoolOptions } from '@vitrine/postgres/pool-options';
import { PostgresPool } from '@vitrine/postgres/postgres-pool';
import type { Removed } from '@vitrine/telemetry/retention-log';
import type { DayUsage } from '@vitrine/traces/day-usage';
import type { Tenant } from '@vitrine/traces/exchange-scope';
import type { Measure, MeasureQuery } from '@vitrine/traces/trace-measures';
import type { AncestorQuery, CheckpointQuery, OwnedTraceStore, StoreSummary, TraceQuery } from '@vitrine/traces/trace-store';
import type { Checkpoint, TraceDetail, TracePage } from '@vitrine/traces/trace';
import type { WriterSource } from '@vitrine/traces/writer-thread';
import { readMeasures } from './read-measures.ts';
import { readAncestors, readCheckpoints, readPage, readTrace } from './read-traces.ts';
import { probeWrites } from './probe-writes.ts';
import { removeTraces, TRACE_RETENTION } from './remove-traces.ts';

/** Quota totals have separate connections, so that they do not wait behind lists, because requests are rejected when totals are late. */
const QUOTA_CONNECTIONS = 2;

/** Connection options of a writer's thread. The DSN is a plain string, because it is passed as a structured clone. */
export interface PostgresWriterOptions extends Omit<PostgresPoolOptions, 'dsn' | 'beforeStatement'> {
  readonly dsn: string;
}

/** The writer of the store in the database of `options`, opened on the derivation thread. */
export function postgresWriter({ dsn, ...options }: Omit<PostgresPoolOptions, 'beforeStatement'>): WriterSource {
  const writer: PostgresWriterOptions = { ...options, dsn: dsn.reveal() };
  return { module: new URL('./postgres-writer-module.ts', import.meta.url).href, options: writer };
}

/** Opens the store that gateways and trace writers share. Nothing connects before the first call, so that a process may start before its
 *  database. Faults: `invalid_dsn`. */
export function openPostgresTraceStore(options: PostgresPoolOptions): PostgresTraceStore {
  const quotas = { ...options, applicationName: `${options.applicationName} quotas`, maxConnections: QUOTA_CONNECTIONS };
  return new PostgresTraceStore(new PostgresPool(options), new PostgresPool(quotas));
}

/** See `openPostgresTraceStore`. Records are written by `PostgresTraceWriter`. */
export class PostgresTraceStore implements OwnedTraceStore {
  readonly driver = 'postgres';
  readonly #pool: PostgresPool;
  readonly #quotas: PostgresPool;
  readonly #retention = new RetentionClock(() => performance.now());
  #traceCount = 0;

  constructor(pool: PostgresPool, quotas: PostgresPool) {
    this.#pool = pool;
    this.#quotas = quotas;
  }

  /** Figures of its two pools, by purpose. */
  get poolFigures(): Readonly<Record<'traces' | 'quotas', PoolFigures>> {
    return { traces: this.#pool.figures(), quotas: this.#quotas.figures() };
  }

  list(query: TraceQuery): Promise<TracePage> {
    return available(readPage(this.#pool, query));
  }

  get(id: string, tenant?: Tenant): Promise<TraceDetail | undefined> {
    return available(readTrace(this.#pool, id, tenant));
  }

  checkpoints(query: CheckpointQuery): Promise<Checkpoint[]> {
    return available(readCheckpoints(this.#pool, query));
  }

  ancestors(query: AncestorQuery): Promise<Checkpoint[]> {
    return available(readAncestors(this.#pool, query));
  }

  measure(query: MeasureQuery): Promise<Measure[]> {
    return available(readMeasures(this.#pool, query));
  }

  async quotaTotals(day: string): Promise<DayUsage[]> {
    const rows = await available(
      this.#quotas.query<
        Omit<DayUsage, 'cost_usd' | 'cost_upper_usd'> & { readonly cost_usd: string; readonly cost_upper_usd: string }
      >(
        `SELECT day, org_id, workspace_id, gateway_key_id, requests, total_tokens, estimated_tokens, cost_usd, cost_upper_usd
         FROM day_usage WHERE day = $1`,
        [day],
      ),
    );
    return rows.map((row) => ({ ...row, cost_usd: Number(row.cost_usd), cost_upper_usd: Number(row.cost_upper_usd) }));
  }

  /** By the clock of the database. */
  advanceRetention(): Promise<RetentionRun> {
    return available(advanceRetention(this.#pool, this.#retention, TRACE_RETENTION));
  }

  /** Also creates the partitions of the days ahead, so that one maintenance loop is enough. */
  removeOlderThan(createdBeforeMs: number, rollupsBeforeMs: number = 0): Promise<Removed[]> {
    return available(removeTraces(this.#pool, createdBeforeMs, rollupsBeforeMs));
  }

  /** Writes a trace and rolls it back. */
  probe(): Promise<void> {
    return probeWrites(this.#pool);
  }

  get knownSummary(): StoreSummary {
    return { driver: this.driver, traceCount: this.#traceCount, sizeBytes: undefined };
  }

  /** `traceCount` is the count kept by writers for days that were not removed. */
  async summary(): Promise<StoreSummary> {
    const rows = await available(
      this.#pool.query<{ traces: number }>(
        `SELECT coalesce(sum(requests), 0)::bigint AS traces FROM day_usage
         WHERE day >= (SELECT (removed_before AT TIME ZONE 'UTC')::date FROM trace_retention)`,
      ),
    );
    this.#traceCount = rows[0]?.traces ?? 0;
    return this.knownSummary;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#pool[Symbol.asyncDispose](), this.#quotas[Symbol.asyncDispose]()]);
  }
}

async function available<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (cause) {
    if (codeOf(cause) === 'too_many_groups') throw cause;
    throw new Fault('trace_store_unavailable', { say: 'trace store is unavailable', log: { reason: messageOf(cause) }, cause });
  }
}
